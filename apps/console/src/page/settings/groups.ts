import type { SettingPath } from './draft.ts';

/** Settings that belong together from a user's point of view. */
export interface SettingsGroup {
  /** The group's name in the address. */
  readonly id: string;
  readonly title: string;
  /** Sections of the file, or single settings that are shown outside their own section. */
  readonly parts: readonly string[];
}

/**
 * All settings, grouped by task, in the order in which a new installation needs them. Only the
 * version, which Parley writes itself, is missing.
 */
export const SETTINGS_GROUPS: readonly SettingsGroup[] = [
  { id: 'agent', title: 'Agent and model', parts: ['model', 'agent', 'identity', 'soul'] },
  { id: 'channels', title: 'Channels', parts: ['channels', 'lanes'] },
  {
    id: 'people',
    title: 'People and access',
    parts: ['owners', 'approvals.approvers', 'cron.who', 'limits.groupContextMessages'],
  },
  { id: 'agents', title: 'Several agents', parts: ['agents', 'routes', 'agent.delegates'] },
  {
    id: 'memory',
    title: 'Memory',
    parts: [
      'agent.memory',
      'agent.prompt',
      'agent.context',
      'heartbeat.memoryUpkeepDays',
      'heartbeat.memoryTokens',
      'retention.historyDays',
    ],
  },
  { id: 'tasks', title: 'Heartbeat and jobs', parts: ['heartbeat', 'cron', 'hooks'] },
  {
    id: 'tools',
    title: 'Tools and approvals',
    parts: ['tools', 'approvals', 'web', 'exec', 'skills', 'mcp', 'plugins'],
  },
  { id: 'limits', title: 'Limits and money', parts: ['spend', 'limits'] },
  { id: 'media', title: 'Files and voice', parts: ['media'] },
  { id: 'page', title: 'Web page and API', parts: ['http', 'api'] },
  {
    id: 'storage',
    title: 'Storage and servers',
    parts: ['store', 'queue', 'retention', 'upgrade'],
  },
  { id: 'privacy', title: 'Logs and privacy', parts: ['log', 'inspector', 'telemetry'] },
];

const PARTS: ReadonlySet<string> = new Set(SETTINGS_GROUPS.flatMap(({ parts }) => parts));

/** Whether a setting is shown separately instead of inside its block. */
export const isPart = (path: SettingPath): boolean => PARTS.has(path.join('.'));

/** The group that shows a setting; the most specific matching part decides. */
export function findGroup(path: SettingPath): SettingsGroup | undefined {
  for (let length = path.length; length > 0; length -= 1) {
    const part = path.slice(0, length).join('.');
    const group = SETTINGS_GROUPS.find(({ parts }) => parts.includes(part));
    if (group !== undefined) return group;
  }
  return undefined;
}
