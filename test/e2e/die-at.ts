import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// A preload module (`node --import`) that kills the process with SIGKILL right before or after its
// n-th rename of a file. `before 2` is an example of DIE_AT.
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
