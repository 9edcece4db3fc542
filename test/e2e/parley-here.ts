import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type DataFolder,
  formatBanner,
  locateDataFolder,
  type StartOptions,
  startParley,
} from '@parley/cli';
import { readBuiltPage } from '@parley/console';
import { type Clock, systemTime } from '@parley/core';
import { writeEmptyDatabase } from '@parley/store/testing';
import { getBundlePage } from '../services/bundle.ts';

/** A running Parley under test, in the same process or in another. */
export interface TestParley {
  readonly data: string;
  /** The address of the web page and the access token. */
  readonly address: string;
  readonly token: string;
  /** The terminal output so far: the banner and, in a separate process, all later output. */
  out(): string;
  /** All log lines so far. */
  err(): string;
  /** Shuts Parley down gracefully and waits until it has stopped. */
  end(): Promise<unknown>;
  /** Ends Parley as fast as possible when the test is over. */
  discard(): Promise<void>;
}

/** Options for a Parley in the test process. */
interface InProcessOptions {
  /** A settings file to use instead of the file in the data folder. */
  readonly settingsFile?: string;
  /** The clock of this Parley: `() => Date.now() + 60_000` runs one minute ahead. */
  readonly clock?: Clock;
  /** Channels in addition to the built-in channels. */
  readonly channels?: StartOptions['channels'];
}

/**
 * Starts Parley in the test process, which costs a fraction of a separate process. Tests about
 * signals, exit codes, kills, automatic restarts, services or packages use `startParleyProcess`
 * instead.
 */
export async function startParleyInProcess(
  data: string,
  { settingsFile, clock = systemTime.clock, channels = [] }: InProcessOptions = {},
): Promise<TestParley> {
  const { PARLEY_HOME: _home, ...env } = process.env;
  // Like `parley start`, makes files that Parley writes private to its user. The umask only lasts
  // until the test file ends.
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
    // Building the page for each of these tests takes a second of processor time, and the bundle
    // already contains it.
    openPage: () => (page ??= readBuiltPage(getBundlePage())),
    checkpoint() {},
    logTo,
  });
  // The banner appears once the channels have had time to connect.
  const out = formatBanner(await parley.banner(), false);
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

/**
 * Whether a first start would create a database in the data folder, since the settings may name
 * another database.
 */
function needsDatabase({ path, settingsFile, databaseMark }: DataFolder): boolean {
  const isUsed = [join(path, 'parley.db'), databaseMark].some((file) => existsSync(file));
  return !isUsed && existsSync(settingsFile) && !/store/.test(readFileSync(settingsFile, 'utf8'));
}
