import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Preloaded by a program (`node --import`): kills it with SIGKILL right before or after it renames
// a file for the n-th time. Example for DIE_AT: `before 2`.
const [when, number] = (process.env.DIE_AT ?? '').split(' ');
const { renameSync } = fs;
let calls = 0;
const die = (moment: string): void => {
  if (moment === when && calls === Number(number)) process.kill(process.pid, 'SIGKILL');
};
fs.renameSync = (from, to) => {
  calls += 1;
  die('before');
  renameSync(from, to);
  die('after');
};
syncBuiltinESMExports();
