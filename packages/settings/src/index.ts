export { describeRoute } from './agents-schema.ts';
export { findNearestWord } from './check.ts';
export type { Settings } from './complete-settings.ts';
export type { FindHosted, HostedChannels } from './hosted.ts';
export { getStrangerCap } from './limits-schema.ts';
export {
  loadSettings,
  type ProfileChoice,
  type SettingsResult,
  writeSettingsTemplate,
} from './load-settings.ts';
export { findClearSecrets } from './secrets.ts';
export {
  type Block,
  describeProblem,
  getValueAt,
  isBlock,
  type SettingsFinding,
  type SettingsProblem,
} from './source.ts';
