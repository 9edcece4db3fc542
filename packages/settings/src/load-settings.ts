import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { reasonOf } from '@parley/core';
import { getConfigPath } from '@parley/core/installation';
import {
  deriveAgents,
  findAgentConflicts,
  findSharedWorkspaces,
  type ModelForms,
  readAgents,
} from './agents.ts';
import { createSettingsEntryLookup } from './allowed.ts';
import { type ChannelAccount, checkChannels } from './channels.ts';
import { checkValue } from './check.ts';
import { completeSettings, type Settings, type SettingsLocation } from './complete-settings.ts';
import { CoreSettings } from './core-schema.ts';
import { formatVersionLine, parseSettings, type SettingsDocument } from './document.ts';
import { addHostedChannels, type FindHostedChannels } from './hosted.ts';
import { type IdForms, normalizeIds } from './ids.ts';
import type { ExternalSchemas } from './json-schema.ts';
import { chooseProfile, listProfileFolders } from './profiles.ts';
import {
  collectSecrets,
  type Environment,
  type ReadMissingSecret,
  resolveReferences,
} from './secrets.ts';
import { LARGEST_SETTINGS_BYTES, readTextFile, SettingsError } from './settings-file.ts';
import { getNewestVersion, SETTINGS_STEPS } from './settings-steps.ts';
import {
  type Block,
  formatPath,
  isBlock,
  isPathWithin,
  type SettingsFinding,
  type SettingsPath,
  type SettingsProblem,
  type SettingsSource,
  toSettingsProblem,
} from './source.ts';

/** The profile that an agent would use: an experiment that changes no file. */
export interface ProfileChoice {
  readonly agent: string | undefined;
  readonly profile: string;
}

export interface LoadSettingsOptions<Model>
  extends SettingsLocation,
    Pick<ExternalSchemas, 'channelSchemas'>,
    ModelForms<Model> {
  readonly env: Environment;
  /** Returns a placeholder for a missing secret file, for callers that do not need secrets. */
  readonly missingSecret?: ReadMissingSecret | undefined;
  /**
   * The folder of profiles included with Parley; those in `profiles/` of the data folder take
   * precedence.
   */
  readonly houseProfiles?: string;
  /** The available channels with the forms of their ids; if absent, ids are not converted. */
  readonly channelIds?: IdForms;
  /** Finds the channels that the file defines with `use`; if absent, there are none. */
  readonly findHosted?: FindHostedChannels | undefined;
  /** Channels that run with their defaults even if the file does not mention them. */
  readonly defaultChannels?: readonly string[];
  /** A profile to use for one agent, the default one without a name, instead of its own. */
  readonly profile?: ProfileChoice | undefined;
}

/** The result of reading the file (D12). `secrets` are values that logs must never show. */
export type SettingsResult<Model = unknown> =
  | {
      readonly kind: 'ok';
      /** The settings of the whole installation and of its default agent. */
      readonly settings: Settings<Model>;
      /**
       * The complete settings of each agent in `agents`, by name (F14). An agent's `spend` contains
       * only that agent's caps; those in `settings` apply as well.
       */
      readonly agents: ReadonlyMap<string, Settings<Model>>;
      /**
       * Accounts by `channel/account`; a broken or disabled account does not affect other accounts.
       */
      readonly channels: Readonly<Record<string, ChannelAccount>>;
      /** The package of each channel that exists because of `use`. */
      readonly hosted: Readonly<Record<string, string>>;
      readonly warnings: readonly SettingsProblem[];
      readonly secrets: readonly string[];
      /** The files that contain values for the settings (`${file:…}`). */
      readonly files: readonly string[];
      /** `defaults` when the file does not exist. */
      readonly origin: 'file' | 'defaults';
    }
  | {
      readonly kind: 'invalid';
      /** All problems, including those of broken channels. */
      readonly problems: readonly SettingsProblem[];
      readonly warnings: readonly SettingsProblem[];
      readonly secrets: readonly string[];
      readonly files: readonly string[];
    };

/**
 * Reads, resolves and checks the settings file. Throws `SettingsError` only when an existing file
 * cannot be read; all mistakes inside it are part of the result.
 */
export function loadSettings<Model>(options: LoadSettingsOptions<Model>): SettingsResult<Model> {
  const text = readTextFile(options.file, LARGEST_SETTINGS_BYTES);
  const written = parseSettings(text.kind === 'text' ? text.text : '');
  if (written.kind === 'broken') {
    return { kind: 'invalid', problems: written.problems, warnings: [], secrets: [], files: [] };
  }
  const document = { ...written, value: chooseOtherProfile(written.value, options.profile) };
  const prepared = prepareSource(document, options);
  const profiled = chooseProfile(prepared.source, createProfileScope(options));
  const source = {
    ...prepared.source,
    value: profiled.value,
    secrets: [...prepared.source.secrets, ...profiled.secrets],
  };
  const { hosted } = prepared;
  const parts = checkSections(source, prepared, options);
  const { core, model, read } = parts;
  const ids = prepared.ids.map((finding) => toSettingsProblem(finding, source));
  const { explained, withoutEffect } = explainIds(ids, parts.problems, parts.channels.accounts);
  const channels = { ...parts.channels, accounts: explained.accounts };
  const shared = {
    warnings: [
      ...[document, profiled, core, model, read, channels].flatMap((part) => part.warnings),
      ...withoutEffect,
      ...hosted.warnings.map((finding) => toSettingsProblem(finding, source)),
    ],
    secrets: [...source.secrets, ...read.secrets],
    files: [...prepared.files, ...profiled.files, ...read.files],
  };
  const whole = assembleSettings(parts, prepared.source, options);
  const problems = [...profiled.problems, ...explained.problems, ...whole.problems];
  if (problems.length > 0 || whole.settings === undefined) {
    const broken = Object.values(channels.accounts).flatMap((a) =>
      a.kind === 'broken' ? a.problems : [],
    );
    return { kind: 'invalid', problems: sortAndDeduplicate([...problems, ...broken]), ...shared };
  }
  return {
    kind: 'ok',
    settings: whole.settings,
    agents: whole.agents,
    channels: channels.accounts,
    hosted: hosted.uses,
    origin: text.kind === 'text' ? 'file' : 'defaults',
    ...shared,
  };
}

function chooseOtherProfile(value: Block, choice: ProfileChoice | undefined): Block {
  if (choice === undefined) return value;
  const { agent, profile } = choice;
  const withProfile = (block: unknown) => ({ ...(isBlock(block) && block), profile });
  if (agent === undefined) return { ...value, agent: withProfile(value.agent) };
  const agents = isBlock(value.agents) ? value.agents : {};
  return { ...value, agents: { ...agents, [agent]: withProfile(agents[agent]) } };
}

/** Validates each part of the file against its own schema. */
function checkSections<Model>(
  source: SettingsSource,
  { findings, hosted }: Pick<ReturnType<typeof prepareSource>, 'findings' | 'hosted'>,
  options: LoadSettingsOptions<Model>,
) {
  const { model: writtenModel, channels: writtenChannels, ...writtenCore } = source.value;
  const core = checkValue(CoreSettings, writtenCore, [], source);
  const model = checkValue(options.modelSchema, writtenModel, ['model'], source);
  const main = model.kind === 'ok' ? model.value : undefined;
  const read = readAgents(source, main, options, createProfileScope(options));
  const listed = readBlock(writtenChannels, ['channels'], source);
  const channels = checkChannels(
    { ...createDefaultSections(options), ...listed.block },
    hosted,
    (path) =>
      [...hosted.findings, ...findings].filter((finding) => isPathWithin(finding.path, path)),
    source,
  );
  const problems = [
    ...listed.problems,
    ...selectCoreReferences(findings).map((finding) => toSettingsProblem(finding, source)),
    ...[core, model].flatMap((checked) => (checked.kind === 'bad' ? checked.problems : [])),
    ...read.problems,
  ];
  return { core, model, read, channels, problems };
}

/** Assembles the settings of the default agent and of other agents if all parts are valid. */
function assembleSettings<Model>(
  { core, model, read, problems: wrong }: ReturnType<typeof checkSections<Model>>,
  unprofiled: SettingsSource,
  options: LoadSettingsOptions<Model>,
) {
  const none = { settings: undefined, agents: new Map<string, Settings<Model>>(), problems: [] };
  if (core.kind === 'bad' || model.kind === 'bad') return none;
  const settings = { ...completeSettings(core.value, 'workspace', options), model: model.value };
  const findings = findAgentConflicts(settings, unprofiled);
  if (Object.keys(settings.agents).length > 0 && wrong.length === 0 && findings.length === 0) {
    const { model: _, channels: _c, ...core } = unprofiled.value;
    const checked = checkValue(CoreSettings, core, [], unprofiled);
    const written = checked.kind === 'ok' && isBlock(checked.cleaned) ? checked.cleaned : {};
    const agents = deriveAgents({ main: settings, written, read }, options);
    const shared = findSharedWorkspaces(new Map([[settings.agent.id, settings], ...agents]));
    return { settings, agents, problems: shared.map((one) => toSettingsProblem(one, unprofiled)) };
  }
  return { ...none, settings, problems: findings.map((one) => toSettingsProblem(one, unprofiled)) };
}

/**
 * Explains problems with ids in the platform's terms, even if a schema also refuses the id.
 * Problems that no schema refuses do not prevent a start, because such ids had no effect in earlier
 * versions either.
 */
function explainIds(
  ids: readonly SettingsProblem[],
  problems: readonly SettingsProblem[],
  accounts: Readonly<Record<string, ChannelAccount>>,
) {
  const known = new Map(ids.map((one) => [one.path, one]));
  const refused = new Set<string>();
  const explain = (problem: SettingsProblem): SettingsProblem => {
    const better = known.get(problem.path);
    if (better === undefined) return problem;
    refused.add(problem.path);
    const { expected, nearest } = better;
    return { ...problem, expected, ...(nearest !== undefined && { nearest }) };
  };
  const explained = {
    problems: problems.map(explain),
    accounts: Object.fromEntries(
      Object.entries(accounts).map(([name, account]): [string, ChannelAccount] => [
        name,
        account.kind === 'broken'
          ? { ...account, problems: account.problems.map(explain) }
          : account,
      ]),
    ),
  };
  return { explained, withoutEffect: ids.filter(({ path }) => !refused.has(path)) };
}

function createProfileScope({
  dataFolder,
  houseProfiles,
  env,
  missingSecret,
  modelSchema,
}: LoadSettingsOptions<unknown>) {
  const folders = listProfileFolders(dataFolder, houseProfiles);
  return { folders, env, modelSchema, missingSecret };
}

function prepareSource(document: SettingsDocument, options: LoadSettingsOptions<unknown>) {
  const resolved = resolveReferences(
    document.value,
    options.env,
    options.file,
    options.missingSecret,
  );
  const hosted = addHostedChannels(resolved.value.channels, options);
  const forms = hosted.ids;
  const normalized =
    forms === undefined
      ? { value: resolved.value, findings: [] }
      : normalizeIds(resolved.value, { forms, literal: document.literal });
  const allowedAt = createSettingsEntryLookup({
    ...options,
    channelSchemas: hosted.schemas,
    hosted: Object.keys(hosted.uses),
  });
  const source: SettingsSource = {
    value: normalized.value,
    outside: resolved.outside,
    secrets: [...collectSecrets(resolved), ...hosted.secrets],
    locate: document.locate,
    allowedAt: (path) => {
      if (path.at(-1) === 'timeZone') {
        return { keys: [], values: Intl.supportedValuesOf('timeZone') };
      }
      return allowedAt(path);
    },
  };
  const findings = resolved.problems.map((p): SettingsFinding => ({ kind: 'reference', ...p }));
  return { source, findings, hosted, ids: normalized.findings, files: resolved.files };
}

/**
 * Selects reference problems in the core settings. References in channels only break their own
 * account, and references below unknown keys are ignored.
 */
function selectCoreReferences(findings: readonly SettingsFinding[]): SettingsFinding[] {
  const known = new Set<unknown>(['model', ...Object.keys(CoreSettings.shape)]);
  return findings.filter((finding) => known.has(finding.path[0]));
}

function createDefaultSections(options: LoadSettingsOptions<unknown>): Block {
  return Object.fromEntries((options.defaultChannels ?? []).map((channel) => [channel, {}]));
}

function readBlock(written: unknown, path: SettingsPath, source: SettingsSource) {
  if (written === undefined || isBlock(written)) return { block: written ?? {}, problems: [] };
  const expected = `a block of channels, such as ${formatPath(path)}.web`;
  return { block: {}, problems: [toSettingsProblem({ kind: 'value', path, expected }, source)] };
}

/**
 * Sorts problems by their position in the file. A failed reference also leaves text that fails the
 * schema, so only one of the two problems is kept.
 */
function sortAndDeduplicate(problems: readonly SettingsProblem[]): SettingsProblem[] {
  const seen = new Set<string>();
  return problems
    .filter(({ path }) => !seen.has(path) && seen.add(path))
    .toSorted((a, b) => (a.position?.line ?? 0) - (b.position?.line ?? 0));
}

const TEMPLATE = getConfigPath('parley.example.yaml');

const SCHEMA = getConfigPath('parley.schema.json');

/**
 * Creates the settings file for a first start. All settings except the version are explained and
 * commented out, so that defaults apply.
 */
export function createSettingsTemplate(): string {
  const line = formatVersionLine(getNewestVersion(SETTINGS_STEPS));
  return readFileSync(TEMPLATE, 'utf8').replace(/^version: .*$/m, line);
}

/**
 * Writes the template to `file`, readable only by its owner because it may later contain secrets,
 * and writes the schema for editors, which its first line names, next to it. Throws
 * `SettingsError`, also if `file` exists.
 */
export function writeSettingsTemplate(file: string): void {
  try {
    writeFileSync(file, createSettingsTemplate(), { flag: 'wx', mode: 0o600 });
    copyFileSync(SCHEMA, join(dirname(file), 'parley.schema.json'));
  } catch (error) {
    throw new SettingsError(
      'settings-unwritable',
      `The settings file ${file} cannot be written: ${reasonOf(error)}. Use another location with --config or --data.`,
      error,
    );
  }
}
