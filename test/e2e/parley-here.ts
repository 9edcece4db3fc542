import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  banner,
  type DataFolder,
  locateDataFolder,
  type StartOptions,
  startParley,
} from '@parley/cli';
import { readBuiltPage } from '@parley/console';
import { type Clock, systemTime } from '@parley/core';
import { writeEmptyDatabase } from '@parley/store/testing';
import { bundlePage } from '../services/bundle.ts';

/** A Parley that a test talks to, in its own process or in another. */
export interface TestParley {
  readonly data: string;
  /** Where its web page is, and the secret for it. */
  readonly address: string;
  readonly token: string;
  /** What it has shown in its terminal so far: the banner, and in a process of its own what comes after that. */
  out(): string;
  /** All lines of its log so far. */
  err(): string;
  /** Ends it in order, and waits for that. */
  end(): Promise<unknown>;
  /** Ends it in the fastest way, when the test is over. */
  discard(): Promise<void>;
}

/** What a test may choose of a Parley in its own process. */
interface Here {
  /** Another one than that of the data folder. */
  readonly settingsFile?: string;
  /** What time it is for that Parley: `() => Date.now() + 60_000` is a minute later than for everybody else. */
  readonly clock?: Clock;
  /** Channels beside those that Parley knows. */
  readonly channels?: StartOptions['channels'];
}

/**
 * Starts Parley in the process of the test, which costs a fraction of a process of its own. For tests in which no
 * signal, exit code, kill, restart by itself, service or package is the subject; those use `startParleyProcess`.
 */
export async function startParleyHere(
  data: string,
  { settingsFile, clock = systemTime.clock, channels = [] }: Here = {},
): Promise<TestParley> {
  const { PARLEY_HOME: _home, ...env } = process.env;
  // As `parley start` does: what Parley writes is for its owner alone. The mask ends with the test file.
  process.umask(0o077);
  let err = '';
  const logTo = {
    write(line: string) {
      err += line;
    },
  };
  const located = locateDataFolder(data, env);
  const folder = settingsFile === undefined ? located : { ...located, settingsFile };
  if (needsDatabase(folder)) await writeEmptyDatabase(join(data, 'parley.db'));
  let page: ReturnType<typeof readBuiltPage> | undefined;
  const parley = await startParley({
    ...{ folder, env, ...systemTime, clock, channels },
    // Building it for each of these takes a second of processor, and the bundle has the page of these sources.
    openPage: () => (page ??= readBuiltPage(bundlePage())),
    checkpoint() {},
    logTo,
  });
  // It comes when the channels have had time to connect.
  const out = banner(await parley.banner(), false);
  let ending: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ending ??= parley.close();
    return ending;
  };
  return {
    data,
    address: parley.address,
    token: readFileSync(join(data, 'token'), 'utf8').trim(),
    out: () => out,
    err: () => err,
    end,
    discard: end,
  };
}

/** Whether a first start would make a database in the data folder; the settings may name another one. */
function needsDatabase({ path, settingsFile, databaseMark }: DataFolder): boolean {
  const isUsed = [join(path, 'parley.db'), databaseMark].some((file) => existsSync(file));
  return !isUsed && existsSync(settingsFile) && !/store/.test(readFileSync(settingsFile, 'utf8'));
}
