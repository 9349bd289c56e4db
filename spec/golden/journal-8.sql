PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE purser_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO purser_meta VALUES('version','8');
INSERT INTO purser_meta VALUES('journal_id','LA8GcB2r9vs2OeW06WNczq8d');
INSERT INTO purser_meta VALUES('first','0.1.0');
INSERT INTO purser_meta VALUES('reader','1');
INSERT INTO purser_meta VALUES('service','localhost');
INSERT INTO purser_meta VALUES('account','treasury');
INSERT INTO purser_meta VALUES('ids','treasury');
INSERT INTO purser_meta VALUES('uid','10000001');
CREATE TABLE purser_calls (id TEXT PRIMARY KEY,
  operation TEXT NOT NULL,
  history TEXT NOT NULL,                -- the list that shows the record it makes; '' where it makes none
  key TEXT NOT NULL,                    -- by which it is used once: the caller's, or its own id; '' where it has none
  form TEXT NOT NULL DEFAULT '',        -- the key's, or a payment's name, in letters of no case and width
  content TEXT NOT NULL,                -- a digest of what the key stands for
  params TEXT NOT NULL, digest TEXT NOT NULL, -- equal calls have the same digest
  state TEXT NOT NULL,                  -- planned, open, unknown, done, rejected, not_sent, not_done, undecided
  attempt TEXT NOT NULL DEFAULT '0',    -- how often it was sent in all
  first_sent_at TEXT NOT NULL DEFAULT '', sent_at TEXT NOT NULL DEFAULT '', recv_window TEXT NOT NULL DEFAULT '0',
  plan TEXT NOT NULL DEFAULT '', approved_by TEXT NOT NULL DEFAULT '', -- of an approval: the digest, and persons
  policy TEXT NOT NULL DEFAULT '',      -- the version that let it through
  destination TEXT NOT NULL DEFAULT '', -- a digest of whom it pays, under a policy
  record_id TEXT NOT NULL DEFAULT '', record TEXT NOT NULL DEFAULT '',
  answered TEXT NOT NULL DEFAULT '',    -- of a call that was made: 'yes', its answer named the record; 'found', the
                                        -- record shows its id; 'no', nothing but the record's content
  message TEXT NOT NULL DEFAULT '', ended_at TEXT NOT NULL DEFAULT '',
  queue TEXT NOT NULL DEFAULT '', payment TEXT NOT NULL DEFAULT '', -- its name in the queue
  stage TEXT NOT NULL DEFAULT '',       -- waiting, taken (until the lease ends), sent, done, failed, undecided, dropped
  added_at TEXT NOT NULL DEFAULT '',
  due_at TEXT NOT NULL DEFAULT '',      -- when it may be sent; '' at once
  blocked TEXT NOT NULL DEFAULT '',     -- 'yes' until something changes
  rejected TEXT NOT NULL DEFAULT '',    -- 'yes': it is looked for by its id before it counts as failed
  disowned TEXT NOT NULL DEFAULT '',    -- 'yes': a person said that its content was not made, without proof.
                                        -- 'other': that of content which it had before
  tries TEXT NOT NULL DEFAULT '0',      -- how often it was sent since it was added, or put back
  worker TEXT NOT NULL DEFAULT '', lease_until TEXT NOT NULL DEFAULT '',
  host TEXT NOT NULL DEFAULT '',        -- of the service that the latest attempt was sent to
  signer TEXT NOT NULL DEFAULT '',      -- a digest of the API key that signed it
  why TEXT NOT NULL DEFAULT '');
INSERT INTO purser_calls VALUES('W3GcxuFuWDVoIYdbxTlRcDOq','sub_account.transfer','sub_account.transfer_history','Inv-1','inv-1','1:ca99053661651d81006d4a127c2703e1166a3127902ad27cdabe27aaea657123','{"amount":"5","asset":"USDT","clientTranId":"e8f756e4888d5bab8c3521f3b5c99644","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','7767a97f20009722eddbd0342dea2b826288c65fb5c9e7203c2ec62024c03895','done','1','1700000000000','1700000000000','5000','','','','','1700000000000000001','{"tranId":"1700000000000000001"}','yes','','1795887772128','','','','','','','','','0','','','localhost','2ddc4d7a49340d22','');
INSERT INTO purser_calls VALUES('peDsL7HatLXIugRyYdE0qEKr','wallet.transfer','wallet.transfer_history','sweep-1','sweep-1','1:e0a8c7e87a85dd9caf54e7bd25704e3fae402f055c6a00a2607c7513421369aa','{}','d718fab82f59b45cf30cd1b58186d70ac75aa5c9da8c13a2afe6745ebe274135','done','1','1700000000000','1700000000000','5000','','','','','1700000000000000002','{"tranId":"1700000000000000002"}','yes','','1795887772161','','','','','','','','','0','','','localhost','2ddc4d7a49340d22','');
INSERT INTO purser_calls VALUES('jegzTDeAg9MbC3ylZYzWUlq6','sub_account.transfer','sub_account.transfer_history','again','again','1:63e684ab8715b119095726415c304917e5975236ff3f29f05ce47e1fe300b5dc','{"amount":"7","asset":"USDT","clientTranId":"2019ae3130383f3e69e5d3ff617c3942","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','7a0032464d42856a7688b0ef52a724e1da4147dfb89162cd02c890376ecb199a','done','2','1700000000000','1700000060000','5000','','','','','1700000060000000003','{"tranId":"1700000060000000003"}','yes','','1795887772232','','','','','','','','','0','','','localhost','2ddc4d7a49340d22','');
INSERT INTO purser_calls VALUES('LnDrV8VbhE2iKFtrOUzlWDJb','sub_account.transfer','sub_account.transfer_history','open','open','1:39c2cc843180692631af15da32cfbe816c423cc91b513e57b268908313643bcf','{"amount":"8","asset":"USDT","clientTranId":"cdb5d080284b98db819f7723b3c6ed23","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','09c28bdef3ced3cc7bb9db710b13048a4ae0a88cf4fab131b439f3d9183555d4','unknown','1','1700000060000','1700000060000','5000','','','','','','','','the connection was closed before an answer came','1795887772272','','','','','','','','','0','','','localhost','2ddc4d7a49340d22','');
INSERT INTO purser_calls VALUES('K1dLOmtrKT9BHAPeyLeIj7A0','wallet.transfer','wallet.transfer_history','word','word','1:a1abd3485baf5cb702358d0494392c2913821a2b2f82cc9ba3f234eb6a89d44f','{"amount":"9","asset":"USDT","fromAccountType":"SPOT","toAccountType":"FUTURES"}','4c1d81d0050cbd9f8b51609cf7469f3729b974fdb69ef93212412d8fd7136d44','not_done','1','1700000660000','1700000660000','5000','','','','','','','','alice said that it was not executed','1795887772322','','','','','','','','yes','0','','','localhost','2ddc4d7a49340d22','');
INSERT INTO purser_calls VALUES('nZPvRMkFjEQEciKiDSDdgyai','sub_account.transfer','sub_account.transfer_history','d4b43b2f8ecf09266820d00e5b3a31d7','p1','1:de6ff24f9ab2bcbc9f2fe6c99a50b86586a866becfc12f92a4b34c1be853823a','{"amount":"1","asset":"USDT","clientTranId":"d4b43b2f8ecf09266820d00e5b3a31d7","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','fad008be306874adda1e617655c84d2b146d498fd895eca1baeaff9e123fafe9','done','1','1700001326000','1700001326000','5000','','','','','1700001326000000006','{"tranId":"1700001326000000006"}','yes','','1795887772479','default','p1','done','1795887772368','','','','','1','','1795887832406','localhost','2ddc4d7a49340d22','');
INSERT INTO purser_calls VALUES('BWsA0GOP3AxG2G7gJ6xeaA3M','sub_account.transfer','sub_account.transfer_history','4658aca6db3af026ca81b69234ed54f3','p2','1:272c42291545d00949a158a55285e20ccd8f0c61cc468bca27e4df31010cac7b','{"amount":"2","asset":"USDT","clientTranId":"4658aca6db3af026ca81b69234ed54f3","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','e9dedb0f6157576d058131335169497e66371958d8afb70c41c38698c7b2df1e','done','1','1700001326000','1700001326000','5000','','','','','1700001326000000007','{"tranId":"1700001326000000007"}','yes','','1795887772518','default','p2','done','1795887772379','','','','','1','','1795887832406','localhost','2ddc4d7a49340d22','');
INSERT INTO purser_calls VALUES('g8Vn35PJFnwNQ0vn9MgMkD0x','sub_account.transfer','sub_account.transfer_history','6b93d7d2e2e84bf2fb82b3cbfae3d224','p3','1:7d19971f9c1bf3c8a6e6af759de2e76f5cdfea769a239c38cf25ccaaa9efc1b3','{"amount":"3","asset":"USDT","clientTranId":"6b93d7d2e2e84bf2fb82b3cbfae3d224","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','d1fe75f2119f8a75c9a6197591499e73cca1cef0bf0bb91c1b728d890c9e2aa7','done','1','1700001326000','1700001326000','5000','','','','','1700001326000000008','{"tranId":"1700001326000000008"}','yes','','1795887772537','default','p3','done','1795887772390','','','','','1','','1795887832406','localhost','2ddc4d7a49340d22','');
INSERT INTO purser_calls VALUES('ljPrV42hCImcvXSQVWCRgTJg','sub_account.transfer','sub_account.transfer_history','b6e22eecfd011f383f7d10fa735bfe9a','p4','1:cb28bff804a929aedbd8b5ffbb3210771da2da3fce923b5565e7db88ed813d01','{"amount":"4","asset":"USDT","clientTranId":"b6e22eecfd011f383f7d10fa735bfe9a","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','1225eaab25415d50c1f4b5e3315fabc51e804ca0d513c6c3e0f3f958beb6ae85','planned','0','','','0','','','','','','','','bob gave it up','','default','p4','dropped','1795887772562','','','','','0','','','','','');
INSERT INTO purser_calls VALUES('lL4ayvXz9M0kw12zcAyZS0YB','sub_account.transfer','sub_account.transfer_history','b200b6669624e8670d98cff5696dba03','p5','1:ca99053661651d81006d4a127c2703e1166a3127902ad27cdabe27aaea657123','{"amount":"5","asset":"USDT","clientTranId":"b200b6669624e8670d98cff5696dba03","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','7767a97f20009722eddbd0342dea2b826288c65fb5c9e7203c2ec62024c03895','rejected','0','','','0','','','','','','','','no','','default','p5','failed','1795887772578','','','','','0','','','','','');
INSERT INTO purser_calls VALUES('0DGzOLBnEffnvrNc7rhrK0ar','sub_account.transfer','sub_account.transfer_history','2fc73299784be955443fd2b133be0cec','p6','1:82b3cfbf9750a55baf7641aa0387f315f306813dc43d240b8a292c21ad8911f5','{"amount":"6","asset":"USDT","clientTranId":"2fc73299784be955443fd2b133be0cec","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','21d6bd16125e06f6ee8629620d0099acc52df175895fd1eb3b04347b089547be','planned','0','','','0','','','','','','','','','','default','p6','undecided','1795887772588','','','','','0','','','','','');
INSERT INTO purser_calls VALUES('18jCuGcDaNqEpFlwbKZIMLFX','sub_account.transfer','sub_account.transfer_history','4422bfbfe876cae7bf0348a01bc261b6','p7','1:63e684ab8715b119095726415c304917e5975236ff3f29f05ce47e1fe300b5dc','{"amount":"7","asset":"USDT","clientTranId":"4422bfbfe876cae7bf0348a01bc261b6","fromAccountType":"SPOT","toAccount":"tradingdesk1","toAccountType":"SPOT"}','7a0032464d42856a7688b0ef52a724e1da4147dfb89162cd02c890376ecb199a','planned','0','','','0','','','','','','','','','','default','p7','waiting','1795887772597','','','','','0','','','','','');
CREATE TABLE purser_attempts (call TEXT NOT NULL, number TEXT NOT NULL, host TEXT NOT NULL,
  signer TEXT NOT NULL, sent_at TEXT NOT NULL, recv_window TEXT NOT NULL, plan TEXT NOT NULL, approved_by TEXT NOT NULL,
  state TEXT NOT NULL, answered TEXT NOT NULL, record_id TEXT NOT NULL, message TEXT NOT NULL,
  ended_at TEXT NOT NULL);
INSERT INTO purser_attempts VALUES('jegzTDeAg9MbC3ylZYzWUlq6','1','localhost','2ddc4d7a49340d22','1700000000000','5000','','','rejected','','','no','1795887772193');
INSERT INTO purser_attempts VALUES('K1dLOmtrKT9BHAPeyLeIj7A0','1','localhost','2ddc4d7a49340d22','1700000660000','5000','','','unknown','','','the connection was reset before an answer came','1795887772301');
CREATE TABLE purser_limits (at TEXT PRIMARY KEY, asset TEXT NOT NULL, period_ms TEXT NOT NULL,
    amount TEXT NOT NULL, person TEXT NOT NULL);
INSERT INTO purser_limits VALUES('1795887772035','USDT','86400000','500','');
INSERT INTO purser_limits VALUES('1795887772651','USDT','86400000','400','alice');
CREATE TABLE purser_charges (call TEXT NOT NULL, content TEXT NOT NULL, asset TEXT NOT NULL,
    amount TEXT NOT NULL, at TEXT NOT NULL);
INSERT INTO purser_charges VALUES('W3GcxuFuWDVoIYdbxTlRcDOq','1:ca99053661651d81006d4a127c2703e1166a3127902ad27cdabe27aaea657123','USDT','5','1700000000000');
INSERT INTO purser_charges VALUES('peDsL7HatLXIugRyYdE0qEKr','1:e0a8c7e87a85dd9caf54e7bd25704e3fae402f055c6a00a2607c7513421369aa','USDT','6','1700000000000');
INSERT INTO purser_charges VALUES('jegzTDeAg9MbC3ylZYzWUlq6','1:63e684ab8715b119095726415c304917e5975236ff3f29f05ce47e1fe300b5dc','USDT','7','1700000060000');
INSERT INTO purser_charges VALUES('LnDrV8VbhE2iKFtrOUzlWDJb','1:39c2cc843180692631af15da32cfbe816c423cc91b513e57b268908313643bcf','USDT','8','1700000060000');
INSERT INTO purser_charges VALUES('K1dLOmtrKT9BHAPeyLeIj7A0','1:a1abd3485baf5cb702358d0494392c2913821a2b2f82cc9ba3f234eb6a89d44f','USDT','9','1700000660000');
INSERT INTO purser_charges VALUES('nZPvRMkFjEQEciKiDSDdgyai','1:de6ff24f9ab2bcbc9f2fe6c99a50b86586a866becfc12f92a4b34c1be853823a','USDT','1','1700001326000');
INSERT INTO purser_charges VALUES('BWsA0GOP3AxG2G7gJ6xeaA3M','1:272c42291545d00949a158a55285e20ccd8f0c61cc468bca27e4df31010cac7b','USDT','2','1700001326000');
INSERT INTO purser_charges VALUES('g8Vn35PJFnwNQ0vn9MgMkD0x','1:7d19971f9c1bf3c8a6e6af759de2e76f5cdfea769a239c38cf25ccaaa9efc1b3','USDT','3','1700001326000');
CREATE TABLE purser_spending (asset TEXT NOT NULL, period_ms TEXT NOT NULL, number TEXT NOT NULL,
    amount TEXT NOT NULL, PRIMARY KEY (asset, period_ms));
CREATE TABLE purser_generations (name TEXT PRIMARY KEY, generation TEXT NOT NULL,
  changed_at TEXT NOT NULL);
INSERT INTO purser_generations VALUES('process bu9QcmWHwhVf1Uiw','0000000000000036','1795887772679');
CREATE TABLE purser_words (id TEXT PRIMARY KEY, call TEXT NOT NULL, attempt TEXT NOT NULL,
    word TEXT NOT NULL, person TEXT NOT NULL, at TEXT NOT NULL, record_id TEXT NOT NULL);
INSERT INTO purser_words VALUES('n7VZxiyce0MKZdjNuQKR7Q35','K1dLOmtrKT9BHAPeyLeIj7A0','1','not_done','alice','1795887772322','');
CREATE TABLE purser_keys (identity TEXT PRIMARY KEY, added_at TEXT NOT NULL, uid TEXT NOT NULL,
    person TEXT NOT NULL, at TEXT NOT NULL);
INSERT INTO purser_keys VALUES('2ddc4d7a49340d22','1795887772035','10000001','','');
INSERT INTO purser_keys VALUES('abababababababab','1795887772662','','alice','1795887772662');
CREATE TABLE purser_log (id TEXT PRIMARY KEY, at TEXT NOT NULL, who TEXT NOT NULL, tool TEXT NOT NULL,
    reference TEXT NOT NULL, outcome TEXT NOT NULL);
CREATE TABLE purser_arrivals (call TEXT PRIMARY KEY, record_id TEXT NOT NULL,
  state TEXT NOT NULL,                  -- accepted, sent, failed, cancelled
  at TEXT NOT NULL,                     -- when that state was seen first
  looked_at TEXT NOT NULL);
INSERT INTO purser_log VALUES('NsGNpO8ZMo5MzOCrUCO1EXzZ','1700001326000','bot','pay','r','paid');
INSERT INTO purser_log VALUES('brvfDzU0VVulYlti35SNnGJc','1795887772679','alice','journal service','localhost','done');
CREATE TABLE purser_runs (number TEXT PRIMARY KEY, queue TEXT NOT NULL,
    source TEXT NOT NULL, person TEXT NOT NULL, begun_at TEXT NOT NULL);
INSERT INTO purser_runs VALUES('1','default','list.csv','alice','1700001326000');
CREATE TABLE purser_workers (run TEXT NOT NULL, name TEXT NOT NULL, person TEXT NOT NULL,
    host TEXT NOT NULL, pid TEXT NOT NULL, alive_until TEXT NOT NULL, PRIMARY KEY (run, name));
CREATE TABLE purser_run_rows (of_queue TEXT NOT NULL,
    of_payment TEXT NOT NULL, run TEXT NOT NULL, payee TEXT NOT NULL DEFAULT '', PRIMARY KEY (of_queue, of_payment));
INSERT INTO purser_run_rows VALUES('default','p4','','Bolt Inc');
INSERT INTO purser_run_rows VALUES('default','p7','1','Acme Ltd');
CREATE TABLE purser_adding (list TEXT NOT NULL, id TEXT NOT NULL,
  queue TEXT NOT NULL, payment TEXT NOT NULL, form TEXT NOT NULL, operation TEXT NOT NULL, params TEXT NOT NULL,
  key TEXT NOT NULL, content TEXT NOT NULL, digest TEXT NOT NULL, history TEXT NOT NULL, given TEXT NOT NULL,
  PRIMARY KEY (list, payment));
CREATE UNIQUE INDEX purser_calls_form ON purser_calls (form) WHERE form <> '' AND queue = '';
CREATE INDEX purser_calls_key ON purser_calls (key) WHERE key <> '';
CREATE UNIQUE INDEX purser_calls_client_id ON purser_calls (key, operation) WHERE key <> '' AND queue <> '';
CREATE UNIQUE INDEX purser_calls_payment ON purser_calls (form, queue) WHERE queue <> '';
CREATE INDEX purser_calls_name ON purser_calls (payment, queue) WHERE queue <> '';
CREATE UNIQUE INDEX purser_calls_record ON purser_calls (record_id, history) WHERE record_id <> '' AND history <> '';
CREATE INDEX purser_calls_undecided ON purser_calls (sent_at, id) WHERE (state = 'open' OR state = 'unknown' OR state = 'undecided');
CREATE INDEX purser_calls_time ON purser_calls (sent_at, id);
CREATE INDEX purser_calls_state ON purser_calls (state, sent_at, id);
CREATE INDEX purser_calls_digest ON purser_calls (digest, sent_at);
CREATE INDEX purser_calls_answered ON purser_calls (operation, sent_at) WHERE answered <> '';
CREATE INDEX purser_calls_destination ON purser_calls (destination, sent_at) WHERE destination <> '';
CREATE INDEX purser_attempts_call ON purser_attempts (call, sent_at);
CREATE INDEX purser_calls_stage ON purser_calls (queue, stage, blocked, due_at) WHERE queue <> '';
CREATE INDEX purser_charges_call ON purser_charges (call);
CREATE INDEX purser_charges_time ON purser_charges (asset, at);
CREATE INDEX purser_words_call ON purser_words (call, at);
CREATE INDEX purser_run_rows_run ON purser_run_rows (run);
COMMIT;
