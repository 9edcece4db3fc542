import { readFileSync, realpathSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { reasonOf } from '@parley/core';
import type { AuditReport } from '@parley/gateway/api';
import type { IntersectionOf } from '@parley/gateway/operations';
import { findPlainTextSecrets } from '@parley/settings';
import { z } from 'zod';
import type { DataFolder } from '../../data-folder.ts';
import { type LoadedSettings, listAgents } from '../../settings.ts';
import { collectFileFacts, type FileFacts } from './file-facts.ts';
import type { ExaminedBase, Installation } from './installation.ts';
import type { RecordFacts } from './record-facts.ts';
import { collectWorkspaceFacts, type WorkspaceFacts } from './workspace-facts.ts';

/**
 * The data that checks examine, grouped by source. Checks never print the secrets and tokens in
 * this data.
 */
export interface CheckFacts {
  /**
   * The result of validating the configuration, as in `parley config check`; present even when the
   * settings are invalid.
   */
  readonly config: Pick<Installation, 'checked' | 'loaded' | 'pluginReport' | 'definitions'>;
  readonly settings: SettingsFacts;
  /** Files in the data folder, skills and plugins. */
  readonly files: FileFacts;
  readonly workspace: { readonly workspace: WorkspaceFacts };
  /** Why an empty command failed in the sandbox, or null. */
  readonly sandbox: { readonly sandboxProblem: () => Promise<string | null> };
  /** The database rows; empty if there is no database. */
  readonly database: RecordFacts;
  /** The schema version of the database; reading it does not change the database. */
  readonly schema: Pick<Installation, 'database'>;
  /** The running gateway, if any. */
  readonly gateway: Pick<Installation, 'gateway'>;
  /** The clock readings of remote servers, which the network checks collect. */
  readonly network: Pick<Installation, 'clocks'>;
  /** The number of findings in the complete audit. */
  readonly audit: { readonly countFindings: () => Promise<AuditReport['counts']> };
}

export type FactName = keyof CheckFacts;
/**
 * The data that the audit uses. The audit's data can be gathered without contacting a gateway or
 * another server.
 */
export type AuditFactName = 'settings' | 'files' | 'workspace' | 'sandbox' | 'database';

/** The data that a check with these needs receives. */
export type FactsFor<N extends FactName> = ExaminedBase & IntersectionOf<CheckFacts[N]>;

/** An agent to check. */
export interface ExaminedAgent {
  /** The agent's name; undefined for the default agent (F14). */
  readonly name: string | undefined;
  readonly base: ExaminedBase;
  /**
   * Each source is gathered once, when the first check needs it. A source is undefined if it is not
   * available.
   */
  readonly sources: { readonly [N in FactName]?: () => Promise<CheckFacts[N]> };
}

/**
 * Returns all agents in the settings, each with the data that the audit needs. `database` reads the
 * rows from the database.
 */
export function examineAgents(
  base: ExaminedBase,
  loaded: LoadedSettings,
  database: () => Promise<RecordFacts>,
): readonly ExaminedAgent[] {
  const now = base.clock();
  const common = collectOnce(async () => collectSettingsFacts(base, loaded, now));
  const tried = collectOnce(findSandboxProblem);
  const shared = {
    files: collectOnce(async () => collectFileFacts(base.folder, loaded, (await common()).plugins)),
    sandbox: async () => ({ sandboxProblem: tried }),
    database: collectOnce(database),
  };
  return listAgents(loaded).map(({ name, settings }) => ({
    ...{ name, base },
    sources: {
      ...shared,
      settings: async () => ({ ...(await common()), agent: name, settings }),
      workspace: collectOnce(async () => ({
        workspace: await collectWorkspaceFacts(settings.agent.workspace, now),
      })),
    },
  }));
}

/** Runs `gather` on the first call; later calls return the same result. */
export function collectOnce<T>(gather: () => Promise<T>): () => Promise<T> {
  let gathered: Promise<T> | undefined;
  return () => {
    gathered ??= gather();
    return gathered;
  };
}

interface SettingsFacts extends ReturnType<typeof collectSettingsFacts> {
  readonly agent: string | undefined;
  readonly settings: LoadedSettings['settings'];
}

function collectSettingsFacts({ folder, env }: ExaminedBase, loaded: LoadedSettings, now: number) {
  const { settings, channels, secrets, warnings } = loaded;
  const unread = warnings.flatMap(({ path }) => /^channels\.([\w-]+)$/.exec(path)?.[1] ?? []);
  const served = Object.values(channels).flatMap((one) =>
    one.kind === 'disabled' ? [] : [one.channel],
  );
  const api = Object.keys(settings.api.clients).length > 0 ? ['api'] : [];
  return {
    now,
    loaded,
    channels,
    /** The configured channels, including channels that only a plugin defines. */
    knownChannels: [...new Set([...served, ...unread, ...api])],
    secrets: secrets.filter((secret) => secret.length >= 8),
    clearSecrets: findPlainTextSecrets(folder.settingsFile),
    /** The access token for the web page; null before the first start. */
    token: settings.http.token ?? readTokenFile(folder),
    webhooks: listWebhooks(channels),
    postgresPassword: env.PGPASSWORD !== undefined || env.PGPASSFILE !== undefined,
    plugins: settings.plugins.map(({ use }) => ({ use, folder: resolvePluginFolder(use, folder) })),
  };
}

const Webhook = z.object({ webhook: z.object({ secret: z.string().default('') }) });

function listWebhooks(channels: LoadedSettings['channels']) {
  return Object.values(channels).flatMap((one) => {
    const parsed = one.kind === 'ok' ? Webhook.safeParse(one.settings).data : undefined;
    if (parsed === undefined) return [];
    const { length } = parsed.webhook.secret;
    return [{ name: `${one.channel}/${one.account}`, secretLength: length }];
  });
}

function readTokenFile({ tokenFile }: DataFolder): string | null {
  try {
    return readFileSync(tokenFile, 'utf8').trim();
  } catch {
    return null; // The token file is created by the first start.
  }
}

/**
 * Resolves a plugin as the plugin loader does: paths are relative to the settings file, and other
 * names are packages.
 */
function resolvePluginFolder(use: string, { settingsFile }: DataFolder): string | null {
  if (!/^(\.{1,2}(\/|$)|\/|~)/.test(use)) return null;
  const folder = resolve(dirname(settingsFile), use.replace(/^~(?=\/|$)/, homedir()));
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
}

/** How long (ms) the sandbox may take to start and run a command. */
const SANDBOX_TIMEOUT_MS = 5_000;

/**
 * Runs an empty command in the sandbox, in its own temporary folder. Returns the reason for a
 * failure, or null.
 */
async function findSandboxProblem(): Promise<string | null> {
  const { openSandbox } = await import('@parley/tools/sandbox');
  const workspace = await mkdtemp(join(tmpdir(), 'parley-audit-'));
  try {
    const signal = AbortSignal.timeout(SANDBOX_TIMEOUT_MS);
    const { exitCode } = await openSandbox({ workspace, forbidden: [] }).run('true', { signal });
    return exitCode === 0 ? null : 'A command that does nothing failed in the sandbox.';
  } catch (error) {
    return reasonOf(error);
  } finally {
    await rm(workspace, { recursive: true, force: true });
  }
}
