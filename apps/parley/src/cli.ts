import { existsSync } from 'node:fs';
import type { Store } from '@parley/store';
import type { DataFolder } from './data-folder.ts';
import { askRunning, findGateway, type GatewayQuestion } from './running-gateway.ts';
import { type LoadedSettings, readSettings } from './settings.ts';

/** What a command works with. */
export interface Cli {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (text: string) => void;
}

/** Runs a command, whose code is loaded only then. */
export type Run = (command: (cli: Cli) => Promise<number>) => Promise<void>;

/** How commands are run. */
export interface Runs {
  /** What is printed holds no secret of the settings (G18). */
  readonly run: Run;
  /** For commands that run a gateway, or show a secret because that is what they are for. */
  readonly bare: Run;
}

/** `--json` of a command. */
export interface Json {
  readonly json?: boolean;
}

type Installation = Pick<Cli, 'folder' | 'env'>;
type OnStore<T> = (store: Store, loaded: LoadedSettings) => Promise<T>;

/** Whether there is a database already: a look must not make one. */
export function hasDatabase({ storeUrl }: DataFolder, { settings }: LoadedSettings): boolean {
  return settings.store.url !== undefined || existsSync(storeUrl.replace(/^sqlite:/, ''));
}

/** Works on the database beside a running gateway, or without one. */
export async function withStore<T>({ folder, env }: Installation, work: OnStore<T>): Promise<T> {
  const loaded = readSettings(folder, env);
  // Most questions to a running gateway never load it.
  const { openStore } = await import('@parley/store');
  const url = loaded.settings.store.url ?? folder.storeUrl;
  const store = await openStore({ url, clock: Date.now });
  try {
    return await work(store, loaded);
  } finally {
    await store.close();
  }
}

/** Asks the running gateway; where there is none, `away` answers from the database. */
export async function askOr<T>(
  cli: Installation,
  question: GatewayQuestion<T>,
  away: OnStore<T>,
): Promise<{ readonly answer: T; readonly isRunning: boolean }> {
  const gateway = await findGateway(cli.folder, cli.env);
  return gateway === null
    ? { answer: await withStore(cli, away), isRunning: false }
    : { answer: await askRunning(gateway, question), isRunning: true };
}

/** For `--json`. */
export function jsonText(value: object): string {
  return JSON.stringify(value, null, 2);
}
