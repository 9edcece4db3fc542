import { readFileSync } from 'node:fs';
import { loadAdapterCatalog } from '@parley/channel-chat-sdk';
import type { ChannelDefinition } from '@parley/channels';
import { getConfigPath } from '@parley/core/installation';
import type { OperatorSettings } from '@parley/gateway';
import type {
  SettingsProblemSummary,
  SettingsState,
  SettingsWriteResult,
} from '@parley/gateway/api';
import { ModelSettings } from '@parley/models';
import { describeProblem, type SettingsProblem } from '@parley/settings';
import {
  editSettings,
  findLastCopy,
  readRawSettingsFile,
  replaceSettings,
  type SettingsChange,
  type SettingsEditResult,
  type SettingsValue,
  undoSettings,
} from '@parley/settings/edit';
import { createSettingsJsonSchema } from '@parley/settings/schema';
import type { OpenLog, StartOptions } from './process-options.ts';
import { addHostedChannels, type checkSettings, createSettingsCheck } from './settings.ts';

type SettingsEditorDeps = Pick<StartOptions, 'folder' | 'env' | 'clock'> & Pick<OpenLog, 'secrets'>;

/**
 * Provides access to the settings file for operations. The file watcher applies changes made by
 * operations (D12).
 */
export function createSettingsEditor(
  { folder, env, clock, secrets }: SettingsEditorDeps,
  channels: readonly ChannelDefinition[],
  state: () => SettingsState,
): OperatorSettings {
  const file = folder.settingsFile;
  const check = createSettingsCheck({ folder, env, channels });
  /** Writes only if the file has not changed since its fingerprint was computed. */
  const write = (
    print: string,
    edit: (options: Parameters<typeof replaceSettings>[2]) => SettingsEditResult,
  ): SettingsWriteResult => {
    if (readRawSettingsFile(file).print !== print) return { kind: 'outdated' };
    const written = edit({ file, check, now: new Date(clock()) });
    if (written.kind !== 'refused') return { kind: written.kind };
    return { kind: 'refused', problems: written.problems.map(toSettingsProblemSummary) };
  };
  return {
    show() {
      const result = check(file);
      // The secrets are registered here, because the file watcher may not have seen the latest
      // changes yet.
      secrets.add(result.secrets);
      const problems =
        result.kind === 'invalid' ? result.problems : listBrokenProblems(result.channels);
      const shown = [...problems, ...result.warnings].map(toSettingsProblemSummary);
      const savedAt = findLastCopy(file)?.keptAt ?? null;
      return { file, ...readRawSettingsFile(file), problems: shown, state: state(), savedAt };
    },
    schema: () => buildSettingsSchema(check(file), channels),
    change: (print, changes) =>
      write(print, (options) =>
        editSettings(changes.map(toSettingsChange), options, secrets.scrub),
      ),
    replace: (print, text) =>
      write(print, (options) => replaceSettings(text, secrets.scrub, options)),
    undo: (print) => write(print, undoSettings),
  };
}

/**
 * The schema of the settings. Channels that exist because of `use` in this file are described in
 * full, unless the file has errors.
 */
function buildSettingsSchema(
  result: ReturnType<typeof checkSettings>,
  channels: readonly ChannelDefinition[],
): object {
  const hosted = result.kind === 'ok' ? Object.keys(result.hosted) : [];
  if (result.kind === 'invalid' || hosted.length === 0)
    return JSON.parse(readFileSync(getConfigPath('parley.schema.json'), 'utf8'));
  const all = addHostedChannels(channels, result).map(
    ({ id, settings }) => [id, settings] as const,
  );
  const hostedSchema = loadAdapterCatalog().AnyAdapterSettings;
  const channelSchemas = Object.fromEntries(all);
  return createSettingsJsonSchema({
    channelSchemas,
    hosted,
    hostedSchema,
    modelSchema: ModelSettings,
  });
}

function listBrokenProblems(
  channels: Extract<ReturnType<typeof checkSettings>, { kind: 'ok' }>['channels'],
) {
  return Object.values(channels).flatMap((one) => (one.kind === 'broken' ? one.problems : []));
}

type ValueChange = Parameters<OperatorSettings['change']>[1][number];
type JsonValue = NonNullable<ValueChange['value']>;

function toSettingsChange({ path, value }: ValueChange): SettingsChange {
  return value === undefined || value === null
    ? { kind: 'remove', path }
    : { kind: 'set', path, value: toWritableValue(value) };
}

/** JSON has null but the settings do not, so null values are omitted. */
function toWritableValue(value: JsonValue): SettingsValue {
  if (Array.isArray(value))
    return value.flatMap((one) => (one === null ? [] : [toWritableValue(one)]));
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value ?? {}).flatMap(([key, one]) =>
      one === null ? [] : [[key, toWritableValue(one)]],
    ),
  );
}

function toSettingsProblemSummary(problem: SettingsProblem): SettingsProblemSummary {
  const { path, position } = problem;
  return {
    path,
    ...(position !== undefined && { line: position.line, column: position.column }),
    text: describeProblem(problem),
  };
}
