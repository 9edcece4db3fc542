export { describeRoute as placeOfRoute } from './agents-schema.ts';
export { nearestWord } from './check.ts';
export type { Settings } from './complete-settings.ts';
export type { FindHosted, HostedChannels } from './hosted.ts';
export { strangerCap } from './limits-schema.ts';
export { loadSettings, type SettingsResult, writeSettingsTemplate } from './load-settings.ts';
export { clearSecretsIn } from './secrets.ts';
export {
  type Block,
  describeProblem,
  type Finding,
  isBlock,
  type SettingsProblem,
} from './source.ts';
