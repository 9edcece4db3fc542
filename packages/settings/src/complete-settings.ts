import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import type { CoreSettings } from './core-schema.ts';

/** Complete settings with all defaults and absolute paths. */
export interface Settings<Model = unknown> extends CoreSettings {
  readonly agent: CoreSettings['agent'] & {
    readonly timeZone: string;
    /** True if the time zone is the machine's, because the settings do not name one. */
    readonly isMachinesTimeZone?: true;
    readonly workspace: string;
  };
  readonly model: Model;
}

/** The folders to which paths in the settings are relative. */
export interface SettingsLocation {
  /** The path of the YAML file, which need not exist. */
  readonly file: string;
  /** The folder of the default workspace. */
  readonly dataFolder: string;
}

/** Fills in the absolute workspace path and the time zone of this machine. */
export function completeSettings(
  core: CoreSettings,
  workspaceName: string,
  { file, dataFolder }: SettingsLocation,
) {
  const { agent } = core;
  const workspace =
    agent.workspace === undefined
      ? join(resolve(dataFolder), workspaceName)
      : resolve(dirname(resolve(file)), agent.workspace.replace(/^~(?=\/|$)/, homedir()));
  const timeZone = agent.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  const isMachines = agent.timeZone === undefined && { isMachinesTimeZone: true as const };
  return { ...core, agent: { ...agent, timeZone, ...isMachines, workspace } };
}
