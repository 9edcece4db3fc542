export { type Spend, strangerCap } from './agent-schema.ts';
export type { AccessSettings, Activation, ChannelAccount } from './channels.ts';
export { nearest } from './check.ts';
export type { CoreSettings } from './core-schema.ts';
export type { ForeignSchemas, JsonSchema } from './json-schema.ts';
export { settingsJsonSchema } from './json-schema.ts';
export {
  type LoadSettingsOptions,
  loadSettings,
  type Settings,
  type SettingsResult,
  settingsTemplate,
  writeSettingsTemplate,
} from './load-settings.ts';
export { SettingsError, type SettingsErrorCode } from './read-text.ts';
export { clearSecretsIn } from './secrets.ts';
export { describeProblem, type Position, type SettingsProblem } from './source.ts';
