import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { locateDataFolder, startParley } from '@parley/cli';
import { systemTime } from '@parley/core';

/** A Parley that a test talks to, in its own process or in another. */
export interface TestParley {
  readonly data: string;
  /** Where its web page is, and the secret for it. */
  readonly address: string;
  readonly token: string;
  /** All lines of its log so far. */
  err(): string;
  /** Ends it in order, and waits for that. */
  end(): Promise<unknown>;
  /** Ends it in the fastest way, when the test is over. */
  discard(): Promise<void>;
}

/**
 * Starts Parley in the process of the test, which costs a fraction of a process of its own. For tests in which no
 * signal, exit code, kill, restart by itself, service or package is the subject; those use `startParleyProcess`.
 */
export async function startParleyHere(data: string): Promise<TestParley> {
  const { PARLEY_HOME: _home, ...env } = process.env;
  let err = '';
  const logTo = {
    write(line: string) {
      err += line;
    },
  };
  const folder = locateDataFolder(data, env);
  const parley = await startParley({ folder, env, ...systemTime, pass() {}, logTo });
  // The banner comes when the channels have had time to connect, and a start by a user shows it, too.
  await parley.banner();
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ending ??= parley.close();
    return ending;
  };
  return {
    data,
    address: parley.address,
    token: readFileSync(join(data, 'token'), 'utf8').trim(),
    err: () => err,
    end,
    discard: end,
  };
}
