export { describeRoute as placeOfRoute } from './agents-schema.ts';
export { findNearestWord as nearestWord } from './check.ts';
export type { Settings } from './complete-settings.ts';
export type { FindHosted, HostedChannels } from './hosted.ts';
export { getStrangerCap as strangerCap } from './limits-schema.ts';
export {
  loadSettings,
  type ProfileChoice,
  type SettingsResult,
  writeSettingsTemplate,
} from './load-settings.ts';
export { listProfileFolders, listProfileNames } from './profiles.ts';
export { findClearSecrets as clearSecretsIn } from './secrets.ts';
export {
  type Block,
  describeProblem,
  getValueAt,
  isBlock,
  type SettingsFinding as Finding,
  type SettingsProblem,
} from './source.ts';
