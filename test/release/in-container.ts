// Runs inside a container of the image: starts the image's command, waits until its health check
// passes, chats, and stops it. Prints its observations as JSON. Arguments: the image's command and
// its health check, each as JSON.
import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const [command = '[]', health = '[]'] = process.argv.slice(2);
const [program = '', ...args]: string[] = JSON.parse(command);
const [check = '', ...checkArgs]: string[] = JSON.parse(health);
const parley = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
let out = '';
parley.stdout.setEncoding('utf8').on('data', (text: string) => {
  out += text;
});
const ended = once(parley, 'close');
const isHealthy = () =>
  promisify(execFile)(check, checkArgs).then(
    () => true,
    () => false,
  );
const healthyBefore = await isHealthy();
let tries = 0;
while (!(await isHealthy()) && tries < 100) {
  tries += 1;
  await wait(100);
}
const token = readFileSync(`${process.env.PARLEY_HOME}/token`, 'utf8').trim();
const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const channel = 'http://127.0.0.1:7411/channels/web/default';
const body = JSON.stringify({ id: randomUUID(), text: 'hello' });
await fetch(`${channel}/messages`, { method: 'POST', headers, body });
let history = '';
while (!history.includes('"part"') && tries < 100) {
  tries += 1;
  await wait(100);
  history = await (await fetch(`${channel}/history`, { headers })).text();
}
const refusal = (path: string): string => {
  try {
    writeFileSync(path, '');
    return 'written';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
};
const written = {
  root: refusal('/x'),
  program: refusal('/parley/x'),
  temporary: refusal('/tmp/x'),
};
const { stdout: version } = await promisify(execFile)('parley', ['--version']);
parley.kill('SIGTERM');
const [code] = await ended;
const user = process.getuid?.();
process.stdout.write(
  JSON.stringify({
    healthyBefore,
    isHealthy: tries < 100,
    history,
    written,
    version,
    code,
    user,
    out,
  }),
);
