import { openStore, type PageSession, type Store } from '@parley/store';
import { readToken, replaceToken } from '../access-token.ts';
import { signInAddress } from '../banner.ts';
import { CliError } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { findGateway } from '../find-gateway.ts';
import { reachableAddress } from '../reachable-address.ts';
import { countOf, readSettings } from '../read-settings.ts';
import { visible } from '../terminal/visible-text.ts';

type Env = NodeJS.ProcessEnv;
type Print = (text: string) => void;

/** `parley token show`: the address that signs a browser in. It prints a secret: that is what it is for. */
export async function showToken(folder: DataFolder, env: Env, print: Print): Promise<number> {
  const { http } = readSettings(folder, env).settings;
  const gateway = await findGateway(folder, env);
  const token = http.token ?? readToken(folder);
  if (token === null) {
    print(`There is no token yet; the first "${commandLine('start', folder)}" makes one.`);
    return 3;
  }
  const host = http.host.includes(':') ? `[${http.host}]` : http.host;
  const address = gateway?.address ?? reachableAddress(`http://${host}:${http.port}`);
  print(signInAddress(address, token));
  return 0;
}

/**
 * `parley token rotate`: another token, and no session of the old one. Gateways on this data folder see
 * the file change; one that is named in the settings is changed there.
 */
export async function rotateToken(folder: DataFolder, env: Env, print: Print): Promise<number> {
  if (readSettings(folder, env).settings.http.token !== undefined) {
    throw new CliError(
      'token-in-settings',
      `The token is http.token of ${folder.settingsFile}: put another one there ("openssl rand -hex 24" makes it) and start the gateways again. The sessions that it opened end with it.`,
    );
  }
  replaceToken(folder);
  const ended = await withStore(folder, env, (store) => store.pageSessions.end('all'));
  print(
    `There is a new token, and the old one opens nothing any more; ${countOf(ended, 'session')} ended.\n` +
      `"${commandLine('token show', folder)}" prints the new address.`,
  );
  return 0;
}

/** `parley sessions`: who is signed in. Works on the database, so no gateway has to run. */
export async function listSessions(folder: DataFolder, env: Env, print: Print): Promise<number> {
  const sessions = await withStore(folder, env, (store) => store.pageSessions.list(Date.now()));
  print(sessions.length === 0 ? 'No browser is signed in.' : sessions.map(lineOf).join('\n'));
  return 0;
}

/** `parley sessions end`: gateways refuse their next request, and end their streams within seconds. */
export async function endSessions(
  folder: DataFolder,
  env: Env,
  which: string | undefined,
  print: Print,
): Promise<number> {
  if (which === undefined) {
    throw new CliError('usage', 'Name a session as "parley sessions" lists it, or say --all.');
  }
  const ended = await withStore(folder, env, (store) => store.pageSessions.end(which));
  if (ended === 0 && which !== 'all') {
    print(`There is no session ${which}; it may have ended already.`);
    return 1;
  }
  print(`${countOf(ended, 'session')} ended.`);
  return 0;
}

async function withStore<T>(
  folder: DataFolder,
  env: Env,
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const { settings } = readSettings(folder, env);
  const store = await openStore({ url: settings.store.url ?? folder.storeUrl, clock: Date.now });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

const FROM: Readonly<Record<PageSession['network'], string>> = {
  'this-machine': 'from this machine',
  'local-network': 'from the local network',
  internet: 'from the internet',
  proxy: 'by a proxy',
};

function lineOf({ id, network, createdAt, usedAt, expiresAt, userAgent }: PageSession): string {
  return [
    `${id}  used ${timeOf(usedAt)}, signed in ${timeOf(createdAt)} ${FROM[network]}, until ${timeOf(expiresAt)}`,
    `              ${visible(userAgent) || 'a browser that does not say what it is'}`,
  ].join('\n');
}

function timeOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace('T', ' ');
}
