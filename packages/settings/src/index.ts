export { describeRoute } from './agents-schema.ts';
export { findNearestWord } from './check.ts';
export type { Settings } from './complete-settings.ts';
export type { FindHostedChannels, HostedChannels } from './hosted.ts';
export { getStrangerCap } from './limits-schema.ts';
export {
  loadSettings,
  type ProfileChoice,
  type SettingsResult,
  writeSettingsTemplate,
} from './load-settings.ts';
export { listProfileFolders, listProfileNames } from './profiles.ts';
export { findPlainTextSecrets } from './secrets.ts';
export {
  type Block,
  describeProblem,
  getValueAt,
  isBlock,
  type SettingsFinding,
  type SettingsProblem,
} from './source.ts';
