import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';

/**
 * For tests: replaces the process that reads a document. The document's content determines how the
 * replacement behaves.
 */
const deeds: Readonly<Record<string, () => unknown>> = {
  crash: () => process.kill(process.pid, 'SIGSEGV'),
  exit: () => process.exit(1),
  garbage: () => process.stdout.write('{"result":', () => process.exit(0)),
  'other json': () => process.stdout.write('{"result":7,"peakBytes":1}', () => process.exit(0)),
  talkative: () => setInterval(() => process.stdout.write('x'.repeat(10_000))),
  busy: () => {
    for (;;);
  },
  idle: () => setInterval(() => {}, 1_000),
  buffers: () => {
    const held: Buffer[] = [];
    for (;;) held.push(Buffer.alloc(4_000_000, 1));
  },
  'too late': () => reportResult('read', 100_000_001),
  heap: () => {
    const held: string[][] = [];
    for (;;) held.push(Array.from({ length: 100_000 }, String));
  },
  nosy: () => {
    const tries = {
      passwords: () => readFileSync('/etc/passwd'),
      'own environment': () => readFileSync('/proc/self/environ'),
      'a file': () => writeFileSync('/tmp/parley-nosy', 'x'),
      'a program': () => spawnSync('/bin/true').status ?? failTest(),
      environment: () => Object.keys(process.env)[0] ?? failTest(),
      code: () => new Function('return 1')(),
    };
    const reached = Object.entries(tries).flatMap(([name, reach]) =>
      isReachable(reach) ? [name] : [],
    );
    reportResult(`reached: ${reached.join(', ')}`);
  },
  opens: async () => {
    const file = isReachable(() => readFileSync(import.meta.filename)) ? ['its own source'] : [];
    const socket = connect(9, '127.0.0.1');
    const [error] = await once(socket, 'error').catch((thrown: unknown) => [thrown]);
    const isRefused = error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
    reportResult(`reached: ${[...file, ...(isRefused ? ['a socket'] : [])].join(', ')}`);
  },
};

function reportResult(text: string, peakBytes = 0): void {
  const part = { kind: 'text', text, next: null, length: text.length, pagesLeft: 0, warning: null };
  const result = JSON.stringify({ result: part, peakBytes });
  process.stdout.write(result, () => process.exit(0));
}

function isReachable(reach: () => unknown): boolean {
  try {
    reach();
    return true;
  } catch {
    return false;
  }
}

function failTest(): never {
  throw new Error('Nothing there.');
}

process.stdout.write('\n');
process.stdin.once('data', (deed) => deeds[deed.toString()]?.());
