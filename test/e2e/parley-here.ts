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

/** A Parley used by a test, in the same process or in another. */
export interface TestParley {
  readonly data: string;
  /** The address of its web page, and the access token. */
  readonly address: string;
  readonly token: string;
  /** Its terminal output so far: the banner, and in a separate process everything after that. */
  out(): string;
  /** All lines of its log so far. */
  err(): string;
  /** Shuts it down gracefully, and waits for that. */
  end(): Promise<unknown>;
  /** Ends it in the fastest way, when the test is over. */
  discard(): Promise<void>;
}

/** What a test may choose for a Parley in its own process. */
interface Here {
  /** A settings file other than that of the data folder. */
  readonly settingsFile?: string;
  /** The clock of that Parley: with `() => Date.now() + 60_000` it is a minute ahead. */
  readonly clock?: Clock;
  /** Channels in addition to the built-in ones. */
  readonly channels?: StartOptions['channels'];
}

/**
 * Starts Parley in the process of the test, which costs a fraction of a separate process. Tests
 * about signals, exit codes, kills, automatic restarts, services or packages use
 * `startParleyProcess` instead.
 */
export async function startParleyHere(
  data: string,
  { settingsFile, clock = systemTime.clock, channels = [] }: Here = {},
): Promise<TestParley> {
  const { PARLEY_HOME: _home, ...env } = process.env;
  // As `parley start` does: files that Parley writes are private to its user. The umask ends with
  // the test file.
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
    // Building the page for each of these takes a second of processor time, and the bundle contains
    // the page of these sources.
    openPage: () => (page ??= readBuiltPage(bundlePage())),
    checkpoint() {},
    logTo,
  });
  // It appears when the channels have had time to connect.
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
