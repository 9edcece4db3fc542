import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isMissingFile } from '@parley/core';
import type { McpSignIns } from '@parley/gateway';
import {
  beginSignIn,
  finishSignIn,
  listSecrets,
  type SignInServer,
  type SignInServices,
  SignInState,
  type SignInVault,
} from '@parley/tools/mcp';
import type { FetchPublic } from '@parley/tools/web';
import type { WorkspaceLock } from '@parley/workspace';
import type { DataFolder } from './data-folder.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import type { ProcessServices } from './process-services.ts';
import { getSecretPath, writeSecretFile } from './secret-files.ts';
import type { LoadedSettings } from './settings.ts';

type SignInOptions = Pick<StartOptions, 'folder' | 'clock' | 'monotonic' | 'random'> &
  Pick<OpenLog, 'log' | 'secrets'>;

/** The locks of this process, keyed by the name of the MCP server. */
export type SignInLocks = ReadonlyMap<string, WorkspaceLock>;

/**
 * Creates one lock per MCP server, because refresh tokens are single-use and must not be renewed
 * concurrently. If several processes share a database, the lock is a lease in that database.
 */
export async function createSignInLocks(
  settings: LoadedSettings['settings'],
  { clock, monotonic, random, log }: SignInOptions,
  { shared: { store }, processId: owner }: Pick<ProcessServices, 'shared' | 'processId'>,
  newLocalLock: () => WorkspaceLock,
): Promise<SignInLocks> {
  const names = Object.keys(settings.mcp);
  if (settings.store.url === undefined) {
    return new Map(names.map((name) => [name, newLocalLock()]));
  }
  const { createSharedLock } = await import('./shared-lock.ts');
  const around = { leases: store.leases, owner, clock, monotonic, random, log };
  return new Map(
    names.map((name) => [name, createSharedLock({ ...around, name: `mcp-sign-in:${name}` })]),
  );
}

/**
 * Stores credentials for MCP servers in the data folder's `secrets/`, which only its owner can read
 * and which backups omit. Every value read or written there is scrubbed from logs and answers from
 * then on.
 */
export function openSignIns(
  { folder, secrets }: Pick<SignInOptions, 'folder' | 'secrets'>,
  locks: SignInLocks,
  fetchPublic: FetchPublic,
): (server: string) => SignInServices {
  return (server) => {
    const lock = locks.get(server);
    if (lock === undefined) throw new Error(`no lock for the MCP server ${server}`);
    const known = (state: SignInState): SignInState => {
      secrets.add(listSecrets(state));
      return state;
    };
    const read = async (): Promise<SignInState | null> => {
      const state = readSignInState(getSecretPath(folder, toSignInName(server)));
      return state === null ? null : known(state);
    };
    const vault: SignInVault = {
      read,
      update: (work) =>
        lock.hold(async () => {
          const { next, result } = await work(await read());
          writeSignInState(folder, server, known(next));
          return result;
        }),
    };
    return { vault, fetchPublic };
  };
}

function toSignInName(server: string): string {
  return `mcp-${server}.json`;
}

/**
 * Returns null if the file is missing or damaged; the person then has to sign in again. Throws if
 * the file cannot be read at the moment, so that it is not overwritten with an empty state.
 */
function readSignInState(file: string): SignInState | null {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
  try {
    return SignInState.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function writeSignInState(
  folder: Pick<DataFolder, 'path'>,
  server: string,
  state: SignInState,
): void {
  writeSecretFile(folder, toSignInName(server), JSON.stringify(state));
}

/** Returns the sign-ins for the configured MCP servers. */
export function createMcpSignIns(
  { mcp }: Pick<LoadedSettings['settings'], 'mcp'>,
  signInAt: (server: string) => SignInServices,
  { clock }: Pick<SignInOptions, 'clock'>,
): McpSignIns {
  const servers = Object.entries(mcp).flatMap(([name, { url, oauth = {} }]): SignInServer[] =>
    url === undefined ? [] : [{ name, url, oauth, ...signInAt(name) }],
  );
  const newState = () => randomBytes(24).toString('base64url');
  return {
    async begin(name, round) {
      const server = servers.find((one) => one.name === name);
      if (server === undefined) return null;
      return await beginSignIn(server, round, { clock, newState });
    },
    finish: (answer, session) => finishSignIn(servers, answer, session, { clock }),
  };
}
