import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

const PROGRAM = resolve(import.meta.dirname, '../../apps/parley/bin/parley.js');
/** The limit is generous because a busy machine is slow. */
const SEEN_WITHIN_MS = 60_000;

export const KEYS = { enter: '\r', up: '\u001b[A', down: '\u001b[B', interrupt: '\u0003' } as const;

/**
 * A command in a pseudo-terminal created by `script` from util-linux, which passes on typed input.
 * A test that uses this must first declare `scriptPath`.
 */
export interface PseudoTerminal {
  /**
   * Waits for text after the previously awaited text, and rejects with the whole output if it does
   * not appear.
   */
  sees(text: string): Promise<void>;
  type(keys: string): void;
  readonly ended: Promise<number>;
  /** The complete output without cursor movements. */
  text(): string;
  end(): void;
}

export function openPseudoTerminal(args: readonly string[]): PseudoTerminal {
  const words = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(' ');
  const { PARLEY_HOME: _home, CI: _ci, ...env } = process.env;
  const command = `stty cols 100 rows 40; exec ${words}`;
  const child = spawn('script', ['-q', '-e', '-c', command, '/dev/null'], {
    env: { ...env, TERM: 'xterm', SHELL: '/bin/sh' },
  });
  let shown = '';
  let from = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    shown = stripVTControlCharacters(shown + text);
  });
  const ended = once(child, 'close').then(([code]) => Number(code));
  return {
    ended,
    async sees(text) {
      const deadline = Date.now() + SEEN_WITHIN_MS;
      while (!shown.includes(text, from)) {
        if (Date.now() > deadline || child.exitCode !== null)
          throw new Error(`The terminal does not show "${text}":\n${shown}`);
        await new Promise((wake) => setTimeout(wake, 10));
      }
      from = shown.indexOf(text, from) + text.length;
    },
    type: (keys) => void child.stdin.write(keys),
    text: () => shown,
    end: () => void child.kill('SIGKILL'),
  };
}
