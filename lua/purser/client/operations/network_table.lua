-- SPDX-License-Identifier: MIT
-- Networks as data: the names that the service and people use, the families of addresses (src/core/address.h), the form
-- of a memo, how certain the row is, and the source of the form. Only rows of certainty A refuse an address.

local M = {}

local function plain(text) return (text:lower():gsub("[^%w]", "")) end

-- Each row: the networks, separated by "|", each with the service's short id first, then further names; families (a
-- name with ? is rare there); memo; certainty; source.
-- Memos: uint32 and uint64 are numbers; text28 is a text of at most 28 bytes; text has no known bound.
local rows = {
  { "ETH erc20 ethereum | BSC bep20bsc bep20 bnbsmartchain | MATIC polygon pol | ARB arbitrumone arbitrumoneeth "
    .. "arbitrum | OP opeth optimism | BASE baseeth | AVAX_CCHAIN avaxc avalanchecchain | ZKSYNC zksyncera | "
    .. "LINEA lineaeth | SCROLL | MANTLE | OPBNB | ETC ethereumclassic | FTM fantom | CRONOS | METIS | BOBA | CELO | "
    .. "KLAY kaia klaytn | THETA thetatoken | VET vechain | ARBNOVA arbitrumnova | CHZ chiliz | HECO | "
    .. "OKT okc okexchain | "
    .. "GLMR moonbeam | MOVR moonriver | ETHW | ETF | FSN fusion | FUSE | REI | OASYS | SGB songbird | FLARE | WEMIX | "
    .. "TOMO viction | XDAI gnosis | HPB | SONIC | BERA berachain | PLASMA | HYPEREVM | MONAD | UNICHAIN",
    "evm", nil, "A", "EIP-55" },
  { "RBTC rootstock rsk", "evm rsk", nil, "A", "EIP-55, EIP-1191" },
  { "XDC xinfin", "evm xdc", nil, "A", "the chain's wallets" },
  { "RONIN", "evm ron", nil, "A", "the chain's wallets" },
  { "QKC quarkchain", "evm", nil, "C", "" },
  { "TRX trc20 tron | TRC10", "trx", nil, "A", "base58check, version 41" },
  { "BTC bitcoin | OMNI", "btc", nil, "A", "BIP 173, BIP 350" },
  { "LTC litecoin", "ltc", nil, "A", "BIP 173; chain parameters" },
  { "DOGE dogecoin", "doge", nil, "A", "chain parameters" },
  { "BCH bitcoincash", "bch", nil, "A", "cashaddr, CashTokens" },
  { "XEC ecash", "xec", nil, "A", "cashaddr" },
  { "BSV bitcoinsv", "bsv", nil, "A", "chain parameters" },
  { "DASH", "dash", nil, "A", "chain parameters" },
  { "ZEC zcash", "zec", nil, "A", "chain parameters; ZIP 320" },
  { "ZEN horizen", "zen", nil, "A", "chain parameters" },
  { "RVN ravencoin", "rvn", nil, "A", "chain parameters" },
  { "QTUM", "qtum", nil, "A", "chain parameters" },
  { "DGB digibyte", "dgb", nil, "A", "chain parameters" },
  { "XVG verge", "xvg", nil, "B", "chain parameters" },
  { "KMD komodo", "kmd", nil, "B", "chain parameters" },
  { "BTG bitcoingold", "btg", nil, "B", "chain parameters" },
  { "FIRO xzc zcoin", "firo", nil, "B", "chain parameters" },
  { "PIVX", "pivx", nil, "B", "chain parameters" },
  { "NEBL neblio", "nebl", nil, "B", "chain parameters" },
  { "HYDRA", "hydra", nil, "B", "chain parameters" },
  { "VTC vertcoin", "vtc", nil, "B", "chain parameters" },
  { "LBC lbry", "lbc", nil, "B", "chain parameters" },
  { "FLUX zel", "flux", nil, "B", "chain parameters" },
  { "HNS handshake", "hns", nil, "B", "BIP 173" },
  { "CCD concordium", "ccd", nil, "B", "base58check, version 01" },
  { "SOL solana spl", "sol", nil, "A", "32 bytes in base58, without a checksum" },
  { "XRP ripple xrpl", "xrp", "uint32", "A", "XLS-5" },
  { "XLM stellar", "xlm", "text28", "A", "SEP-23" },
  { "TONCOIN ton", "ton", "text", "A", "TEP-2" },
  { "ADA cardano", "ada", nil, "A", "CIP-19; Byron" },
  { "DOT polkadot | DOTASSETHUB assethubpolkadot", "ss58/0", nil, "A", "SS58 registry" },
  { "KSM kusama | KSMASSETHUB", "ss58/2", nil, "A", "SS58 registry" },
  { "ASTAR astr | SDN shiden", "ss58/5", nil, "A", "SS58 registry" },
  { "AZERO alephzero | TAO bittensor", "ss58/42", nil, "A", "SS58 registry" },
  { "ACALA aca", "ss58/10", nil, "B", "SS58 registry" },
  { "KAR karura", "ss58/8", nil, "B", "SS58 registry" },
  { "BNC bncpolka bifrost", "ss58/6", nil, "B", "SS58 registry" },
  { "KILT", "ss58/38", nil, "B", "SS58 registry" },
  { "ZTG zeitgeist", "ss58/73", nil, "B", "SS58 registry" },
  { "EDG edgeware", "ss58/7", nil, "B", "SS58 registry" },
  { "KMA", "ss58/78", nil, "B", "SS58 registry" },
  { "KINT kintsugi", "ss58/2092", nil, "B", "SS58 registry" },
  { "INTR interlay", "ss58/2032", nil, "B", "SS58 registry" },
  { "PCX", "ss58/44", nil, "B", "SS58 registry" },
  { "TEER", "ss58/13", nil, "B", "SS58 registry" },
  { "XX", "ss58/55", nil, "B", "SS58 registry" },
  { "KLP", "ss58/16", nil, "B", "SS58 registry" },
  { "NODLE nodl", "ss58/37", nil, "B", "SS58 registry" },
  { "ATOM cosmos cosmoshub", "cosmos", "text512", "A", "bech32; the chain's parameters" },
  { "OSMO osmosis", "osmo", "text256", "A", "bech32" },
  { "TIA celestia", "celestia", "text256", "A", "bech32" },
  { "LUNC terraclassic | LUNA2 terra2", "terra", "text256", "A", "bech32" },
  { "KAVA", "kava evm?", "text256", "A", "bech32" },
  { "SEI", "sei evm?", "text256", "A", "bech32" },
  { "SCRT secret secretnetwork", "secret", "text256", "B", "bech32" },
  { "IRIS", "iaa", "text256", "B", "bech32" },
  { "FET fetch fetchai", "fetch", "text256", "B", "bech32" },
  { "JUNO", "juno", "text256", "B", "bech32" },
  { "UMEE", "umee", "text256", "B", "bech32" },
  { "KUJI kujira", "kujira", "text256", "B", "bech32" },
  { "HUAHUA chihuahua", "chihuahua", "text256", "B", "bech32" },
  { "DVPN sentinel", "sent", "text256", "B", "bech32" },
  { "DARC", "darc", "text256", "B", "bech32" },
  { "ATOLO rizon", "rizon", "text256", "B", "bech32" },
  { "FCT firmachain", "firma", "text256", "B", "bech32" },
  { "MNTL assetmantle", "mantle", "text256", "B", "bech32" },
  { "AKT akash", "akash", "text256", "B", "bech32" },
  { "AXL axelar", "axelar", "text256", "B", "bech32" },
  { "DYDX dydxchain", "dydx", "text256", "B", "bech32" },
  { "NTRN neutron", "neutron", "text256", "B", "bech32" },
  { "STRD stride", "stride", "text256", "B", "bech32" },
  { "DYM dymension", "dym evm?", "text256", "B", "bech32" },
  { "SAGA", "saga", "text256", "B", "bech32" },
  { "BAND", "band", "text256", "B", "bech32" },
  { "RUNE thorchain", "thor", "text256", "B", "bech32" },
  { "CRO cryptoorg", "cro", "text256", "B", "bech32" },
  { "BEP2", "bnb", "text128", "B", "bech32" },
  { "POKT pocket", "pokt", "text256", "B", "bech32" },
  { "NIBI nibiru", "nibi", "text256", "B", "bech32" },
  { "ARCH archway", "archway", "text256", "B", "bech32" },
  { "XPRT persistence", "persistence", "text256", "B", "bech32" },
  { "INJ injective", "inj evm", "text256", "A", "bech32 of 0x" },
  { "ONE harmony", "one evm", nil, "A", "bech32 of 0x" },
  { "EVMOS", "evmos evm", nil, "B", "bech32 of 0x" },
  { "CANTO", "canto evm", nil, "B", "bech32 of 0x" },
  { "IOTX iotex", "io evm", nil, "B", "bech32 of 0x" },
  { "LAT platon", "lat evm", nil, "B", "bech32 of 0x" },
  { "REBUS", "rebus evm", nil, "B", "bech32 of 0x" },
  { "ZIL zilliqa", "zil evm", nil, "B", "the chain's documents" },
  { "EGLD multiversx elrond", "erd", nil, "A", "bech32" },
  { "ROSE oasis", "oasis", nil, "A", "bech32" },
  { "CHIA xch", "xch", nil, "A", "bech32m" },
  { "CKB nervos", "ckb", nil, "A", "RFC 21 of CKB" },
  { "AVAX_XCHAIN avaxx avalanchexchain", "avaxx", nil, "A", "bech32" },
  { "XRD radix", "account_rdx", "text", "B", "bech32m" },
  { "ALGO algorand", "algo", nil, "A", "SHA-512/256" },
  { "APTOS apt", "move", nil, "A", "AIP-40" },
  { "SUI", "move", nil, "A", "the chain's documents" },
  { "IOTA", "move iota?", nil, "A", "the chain's documents" },
  { "MOVEMENT", "move", nil, "B", "AIP-40" },
  { "STARKNET strk stark", "strk", nil, "A", "numbers below the prime" },
  { "NEAR", "near evm?", nil, "A", "NEP-518" },
  { "HBAR hedera", "hbar evm?", "text100", "A", "HIP-15" },
  { "EOS vaulta | WAX", "eos", "text256", "A", "names of EOSIO" },
  { "PROTON xpr | TELOS | FO | VEX | ABBC", "eos", "text256", "B",
    "names of EOSIO" },
  { "XTZ tezos", "xtz", nil, "A", "base58check" },
  { "FIL filecoin", "fil evm?", nil, "A", "the chain's specification" },
  { "ICP internetcomputer dfinity", "icp", "uint64", "A", "the chain's specification; ICRC-1" },
  { "KASPA kas", "kas", nil, "A", "cashaddr with other versions" },
  { "STX stacks", "stx", "text34", "A", "SIP-005" },
  { "XMR monero", "xmr", nil, "A", "base58 in blocks" },
  { "XNO nano", "xno", nil, "A", "the chain's documents" },
  { "MINA", "mina", "text32", "A", "base58check" },
  { "NEO", "neo", nil, "A", "base58check, version 17" },
  { "NEO3 neon3", "neo3", nil, "A", "base58check, version 35" },
  { "ONT ontology", "ont", nil, "A", "base58check, version 17" },
  { "WAVES", "waves", nil, "A", "the chain's documents" },
  { "ERG ergo", "erg", nil, "A", "the chain's documents" },
  { "AR arweave", "ar", nil, "A", "32 bytes in base64url, without a checksum" },
  { "FLOW", "flow evm?", nil, "A", "the chain's documents" },
  { "HIVE | STEEM | NEM xem | FIO | IOST", "", "text", "C", "" },
  { "LUNA | CORE | STAR", "", nil, "C", "two chains have had this name" },
}

-- Names that two chains have had tell their row only with a second name, or for the chain's own coin.
local shared_names = { ton = true, luna = true, core = true, star = true }

---@class purser.NetworkRow
---@field families string[]             families of addresses, the usual ones first
---@field is_rare table<string, boolean> families that wallets of the chain show, and the service may not take
---@field memo string|nil               the form of a memo; nil where none travels
---@field certainty "A"|"B"|"C"
---@field source string
---@field value string                  the service's short id

local made

-- Returns the rows by name, the names that two chains have had, all networks, and the first network of each family.
-- Made at the first question, since a program's first call often asks none.
local function index()
  if made then return made end
  local by_name, shared, list, first_network = {}, {}, {}, {}
  for _, row in ipairs(rows) do
    local families, is_rare = {}, {}
    for name, mark in row[2]:gmatch "([^%s?]+)(%??)" do
      families[#families + 1], is_rare[name] = name, mark == "?" or nil
    end
    for chain in row[1]:gmatch "[^|]+" do
      local one = { families = families, is_rare = is_rare, memo = row[3], certainty = row[4], source = row[5],
        value = chain:match "%S+", names = chain }
      list[#list + 1] = one
      for name in chain:gmatch "%S+" do
        name = plain(name)
        if not by_name[name] then by_name[name] = one end
        shared[name] = shared_names[name]
      end
      for _, family in ipairs(families) do
        if not is_rare[family] and not first_network[family] then first_network[family] = one.value end
      end
    end
  end
  made = { by_name = by_name, shared = shared, list = list, first_network = first_network }
  return made
end

--- Returns all networks.
---@return purser.NetworkRow[]
function M.list() return index().list end

--- Returns the names of a network, the surest first: short id, long name, its parts ("Tron(TRC20)": tron, trc20).
function M.names_of(network)
  local short, long = network.netWork or "", network.network or ""
  return { { short, long }, { plain(short), plain(long) },
    { plain(long:match("%(([^()]*)%)%s*$") or ""), plain(long:match("^([^()]*)%(") or "") } }
end

M.plain = plain

--- Returns a network's short id by a common name; nil for an unknown name.
function M.value_of(name)
  local row = index().by_name[plain(name)]
  return row and row.value
end

local function as_record(network)
  return type(network) == "table" and network or { netWork = network, network = network }
end

-- Tells whether a name that two chains have had is here that of its row: by a second name, or the chain's own coin.
local function is_meant(row, names, coin)
  local by_name, shared = index().by_name, index().shared
  local symbol = coin and plain(tostring(coin.coin or "")) or ""
  for level = 2, 3 do
    for _, name in ipairs(names[level]) do
      if name ~= "" and by_name[name] == row and not shared[name] then return true end
    end
  end
  return symbol ~= "" and by_name[symbol] == row
end

--- Returns the row of a network, and whether it is certain; nil for an unknown network.
---@param network table|string  the service's record (netWork, network), or a name
---@param coin table|nil        the service's record of the coin
---@return purser.NetworkRow|nil row, boolean is_sure
function M.row_of(network, coin)
  local names, by_name = M.names_of(as_record(network)), index().by_name
  local row
  for level = 2, 3 do
    row = row or by_name[names[level][1]] or by_name[names[level][2]]
  end
  if not row then return nil, false end
  local is_doubtful = index().shared[names[2][1]] ~= nil and not is_meant(row, names, coin)
  local other = by_name[names[2][2]]
  if other and other ~= row and other.families ~= row.families then is_doubtful = true end
  return row, row.certainty == "A" and not is_doubtful
end

-- Names of families for people. Others are named by the first network that has them.
local words = { evm = "Ethereum and the networks like it", move = "Aptos, Sui and the networks like them",
  rsk = "Rootstock", xdc = "XDC", ron = "Ronin", btc = "Bitcoin", ltc = "Litecoin", trx = "Tron", doge = "Dogecoin",
  bch = "Bitcoin Cash", sol = "Solana", ada = "Cardano", ton = "TON", xlm = "Stellar", xrp = "the XRP Ledger",
  eos = "EOS and the networks like it", near = "NEAR", cosmos = "Cosmos", zec = "Zcash", xmr = "Monero" }

--- Returns the name of a family for people.
---@param family string
---@return string
function M.words(family)
  return words[family] or index().first_network[family]
    or family:find "^ss58/" and "a network of Polkadot's kind" or family
end

--- Returns the network that a family is usually of; nil for a family of several.
function M.home_of(family)
  return family ~= "evm" and family ~= "move" and index().first_network[family] or nil
end

return M
