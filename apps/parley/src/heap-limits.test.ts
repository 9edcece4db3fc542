import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isFullRun } from '@parley/core/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
/** Simulates Windows and older Node versions, where the program runs in a child process. */
const WITHOUT_EXCHANGE = ['--import', 'data:text/javascript,delete process.execve'];
const PROGRAM = join(ROOT, 'apps/parley/bin/parley.js');
type Start = readonly [way: string, isSame: boolean, program: string, args: readonly string[]];
/**
 * Each of these tests starts a complete Parley process, which takes most of a second of processor
 * time.
 */
const WITH_A_FLAG: Start = [
  'node with a flag of its own',
  true,
  process.execPath,
  ['--no-deprecation', PROGRAM],
];

it.each([
  ['npm start', 'package.json', /"start": "node --max-semi-space-size=8 \S+parley\.js start"/],
  ['the link that npm makes', 'apps/parley/package.json', /"parley": "bin\/parley.js"/],
  [
    'the image',
    'Dockerfile',
    /^ENV MALLOC_ARENA_MAX=2\n[\s\S]*^ENTRYPOINT \["node", "--max-semi-space-size=8", /m,
  ],
])(
  '%s starts Parley with a small space for young objects and, where supported, few malloc arenas',
  (_way, file, flag) => {
    expect(readFileSync(join(ROOT, file), 'utf8')).toMatch(flag);
  },
);

describe.skipIf(process.platform !== 'linux')('a Parley process', () => {
  let data: string;

  beforeEach(() => {
    data = mkdtempSync(join(tmpdir(), 'parley-limits-'));
    writeFileSync(
      join(data, 'parley.yaml'),
      JSON.stringify({ model: 'offline', http: { port: 0 } }),
    );
  });
  afterEach(() => rmSync(data, { recursive: true, force: true }));

  /**
   * Returns the arguments, environment and process id of a started Parley process, as reported by
   * the kernel.
   */
  async function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}) {
    const { MALLOC_ARENA_MAX: _arenas, NODE_OPTIONS: _options, ...rest } = process.env;
    const words = [...args, '--data', data, 'start'];
    const child = spawn(program, words, {
      env: { ...rest, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      for await (const text of child.stdout.setEncoding('utf8')) {
        if (String(text).includes('Stop with Ctrl-C')) break;
      }
      const { pid } = JSON.parse(readFileSync(join(data, 'gateway.json'), 'utf8'));
      const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
      return { isSame: pid === child.pid, words: read('cmdline'), env: read('environ') };
    } finally {
      child.kill('SIGTERM');
      await once(child, 'close');
    }
  }

  it.each<Start>([
    ['node', true, process.execPath, [PROGRAM]],
    ['the first line of the program', true, PROGRAM, []],
    ['a Node without process.execve', false, process.execPath, [...WITHOUT_EXCHANGE, PROGRAM]],
    ...(isFullRun() ? [WITH_A_FLAG] : []),
  ])(
    'runs with a small space for young objects and few malloc arenas when started by %s, and keeps its process id for supervisors: %s',
    async (_way, isSame, program, args) => {
      const started = await start(program, args);
      expect(started.isSame).toBe(isSame);
      expect(started.words).toContain('--max-semi-space-size=8');
      expect(started.env).toContain('MALLOC_ARENA_MAX=2');
    },
  );

  it('keeps limits that the operator has set', async () => {
    const started = await start(process.execPath, ['--max-semi-space-size=4', PROGRAM], {
      MALLOC_ARENA_MAX: '4',
    });
    expect(started.words).toContain('--max-semi-space-size=4');
    expect(started.words).not.toContain('--max-semi-space-size=8');
    expect(started.env).toContain('MALLOC_ARENA_MAX=4');
  });
});
