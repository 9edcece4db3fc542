export { placeOf as placeOfRoute } from './agents-schema.ts';
export type { ChannelAccount } from './channels.ts';
export { nearest } from './check.ts';
export { settingsJsonSchema } from './json-schema.ts';
export { strangerCap } from './limits-schema.ts';
export {
  loadSettings,
  type Settings,
  type SettingsResult,
  writeSettingsTemplate,
} from './load-settings.ts';
export { clearSecretsIn } from './secrets.ts';
export { describeProblem, type Position, type SettingsProblem } from './source.ts';
