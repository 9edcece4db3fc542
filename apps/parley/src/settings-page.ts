import { readFileSync } from 'node:fs';
import type { ChannelDefinition } from '@parley/channels';
import { configPath } from '@parley/core/installation';
import type { SettingsOrder, SettingsPage } from '@parley/gateway';
import type { SettingsState, SettingsWritten, ShownProblem } from '@parley/gateway/api';
import { describeProblem, type SettingsProblem } from '@parley/settings';
import {
  editSettings,
  readWritten,
  replaceSettings,
  type SettingsChange,
  type SettingsEdited,
  type SettingsValue,
} from '@parley/settings/edit';
import type { OpenLog, StartOptions } from './process-options.ts';
import { checkAs, type checkSettings } from './settings.ts';

type Deps = Pick<StartOptions, 'folder' | 'env' | 'clock'> & Pick<OpenLog, 'secrets'>;

/** The settings file for the page. What is written there is taken over by the watch of the file (D12). */
export function settingsPage(
  { folder, env, clock, secrets }: Deps,
  channels: readonly ChannelDefinition[],
  state: () => SettingsState,
): SettingsPage {
  const file = folder.settingsFile;
  const check = checkAs({ folder, env, channels });
  const write = (order: SettingsOrder): SettingsEdited => {
    const options = { file, check, now: new Date(clock()) };
    return order.kind === 'text'
      ? replaceSettings(order.text, secrets.scrub, options)
      : editSettings(order.changes.map(changeOf), options, secrets.scrub);
  };
  return {
    read() {
      const result = check(file);
      // The watch of the file may not have seen yet what was just saved.
      secrets.add(result.secrets);
      const problems = result.kind === 'invalid' ? result.problems : brokenIn(result.channels);
      const shown = [...problems, ...result.warnings].map(shownProblem);
      return { file, ...readWritten(file), problems: shown, state: state() };
    },
    schema: () => JSON.parse(readFileSync(configPath('parley.schema.json'), 'utf8')),
    write(order): SettingsWritten {
      if (readWritten(file).print !== order.print) return { kind: 'outdated' };
      const written = write(order);
      if (written.kind !== 'refused') return { kind: written.kind };
      return { kind: 'refused', problems: written.problems.map(shownProblem) };
    },
  };
}

function brokenIn(channels: Extract<ReturnType<typeof checkSettings>, { kind: 'ok' }>['channels']) {
  return Object.values(channels).flatMap((one) => (one.kind === 'broken' ? one.problems : []));
}

type ValueChange = Extract<SettingsOrder, { kind: 'values' }>['changes'][number];
type Json = NonNullable<ValueChange['value']>;

function changeOf({ path, value }: ValueChange): SettingsChange {
  return value === undefined || value === null
    ? { kind: 'remove', path }
    : { kind: 'set', path, value: writable(value) };
}

/** JSON knows null, settings do not: a key without a value is absent. */
function writable(value: Json): SettingsValue {
  if (Array.isArray(value)) return value.flatMap((one) => (one === null ? [] : [writable(one)]));
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value ?? {}).flatMap(([key, one]) =>
      one === null ? [] : [[key, writable(one)]],
    ),
  );
}

function shownProblem(problem: SettingsProblem): ShownProblem {
  const { path, position } = problem;
  return {
    path,
    ...(position !== undefined && { line: position.line, column: position.column }),
    text: describeProblem(problem),
  };
}
