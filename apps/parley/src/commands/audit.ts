import { chmodSync, existsSync, readdirSync, statSync } from 'node:fs';
import { ParleyError, reasonOf, silentLogger } from '@parley/contracts';
import { openStore, type Store } from '@parley/store';
import { auditOf, auditText, countsOf, exitCodeOf } from '../audit/audit.ts';
import { type AuditFacts, gatherFacts } from '../audit/facts.ts';
import { modesToFix, octal } from '../audit/file-checks.ts';
import { acceptMcp } from '../audit/mcp-accepted.ts';
import { CliError } from '../cli-error.ts';
import { commandLine } from '../command-line.ts';
import type { DataFolder } from '../data-folder.ts';
import { openAgent } from '../open-agent.ts';
import { type LoadedSettings, readSettings } from '../read-settings.ts';

/** How `parley audit` is run. */
export interface AuditFlags {
  readonly json?: boolean;
  readonly fix?: boolean;
}

/** The audit itself could not be done; the others are those of `exitCodeOf`. */
const COULD_NOT_RUN = 3;

/** `parley audit` (U05): 0 nothing at warning or above, 1 warnings, 2 something critical, 3 it could not run. */
export async function auditCommand(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  { json = false, fix = false }: AuditFlags,
  print: (text: string) => void,
): Promise<number> {
  try {
    checkPlace(folder);
    const loaded = readSettings(folder, env);
    const look = () => lookAt(folder, env, loaded);
    let facts = await look();
    const fixed = fix ? fixModes(facts) : [];
    if (fixed.length > 0) facts = await look();
    const findings = auditOf(facts);
    if (json) {
      const report = { version: 1, dataFolder: folder.path, at: new Date(facts.now).toISOString() };
      const counts = countsOf(findings);
      print(JSON.stringify({ ...report, counts, fixed, findings }, null, 2));
    } else {
      for (const { path, from, to } of fixed) print(`fixed     ${path}: ${from} → ${to}`);
      if (fix && fixed.length === 0) print('No mode had to be fixed.');
      print(`${folder.path}\n\n${auditText(findings)}`);
    }
    return exitCodeOf(findings);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    return COULD_NOT_RUN;
  }
}

/** `parley audit accept SERVER`: what its tools say of themselves now is as it should be. */
export async function acceptCommand(
  folder: DataFolder,
  server: string,
  print: (text: string) => void,
): Promise<number> {
  if (!acceptMcp(folder, server, Date.now())) {
    print(`Nothing has changed about the tools of the server ${server}, or there is none.`);
    return 1;
  }
  print(`The tools of the server ${server} are accepted as they are described now.`);
  return 0;
}

/** Throws CliError where there is nothing to audit, or it belongs to somebody else. */
function checkPlace(folder: DataFolder): void {
  const { path, settingsFile, tokenFile } = folder;
  const start = commandLine('start', folder);
  if (!existsSync(path)) {
    const words = `There is no data folder ${path}, so there is nothing to audit. Make one with "${start}", or name another one with --data FOLDER.`;
    throw new CliError('audit-nothing', words);
  }
  const { uid } = statSync(path);
  const me = process.getuid?.();
  if (me !== undefined && uid !== me) {
    const words = `The data folder ${path} belongs to another user (${uid}). Run the audit as that user: it opens the database, whose side files would belong to you.`;
    throw new CliError('audit-foreign', words);
  }
  try {
    readdirSync(path);
  } catch (error) {
    const words = `The data folder ${path} cannot be read (${reasonOf(error)}). Run the audit as the user who runs Parley.`;
    throw new CliError('audit-unreadable', words, error);
  }
  if ([settingsFile, tokenFile, databaseFile(folder)].some((file) => existsSync(file))) return;
  const words = `${path} is no data folder of Parley: it has neither settings nor a database. Start Parley there with "${start}", or name another one with --data FOLDER.`;
  throw new CliError('audit-nothing', words);
}

async function lookAt(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  loaded: LoadedSettings,
): Promise<AuditFacts> {
  const store = await storeOf(folder, loaded);
  try {
    const isPromptFile = await promptFilesOf(folder, env, loaded);
    return await gatherFacts({ folder, env, loaded, store, isPromptFile, now: Date.now() });
  } finally {
    await store?.close();
  }
}

/** Null before the first start: looking must not make a database. */
async function storeOf(folder: DataFolder, { settings }: LoadedSettings): Promise<Store | null> {
  if (settings.store.url === undefined && !existsSync(databaseFile(folder))) return null;
  return openStore({ url: settings.store.url ?? folder.storeUrl, clock: Date.now });
}

function databaseFile({ storeUrl }: DataFolder): string {
  return storeUrl.replace(/^sqlite:/, '');
}

/** A workspace that is not there yet has none, and is not made. */
async function promptFilesOf(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  { settings }: LoadedSettings,
): Promise<(path: string) => boolean> {
  if (!existsSync(`${settings.agent.workspace}/AGENTS.md`)) return () => false;
  const { promptFiles } = await openAgent({ folder, env, settings, log: silentLogger });
  return (path) => promptFiles.includes(path);
}

function fixModes(facts: AuditFacts) {
  return modesToFix(facts).map(({ path, from, to }) => {
    try {
      chmodSync(path, to);
    } catch (error) {
      const words = `The mode of ${path} cannot be changed (${reasonOf(error)}).`;
      throw new CliError('audit-fix', words, error);
    }
    return { path, from: octal(from), to: octal(to) };
  });
}
