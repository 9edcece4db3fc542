export type { AccessSettings, Activation } from './channel-schema.ts';
export type { ChannelAccount } from './check-channels.ts';
export { clearSecretsIn } from './collect-secrets.ts';
export type { CoreSettings } from './core-schema.ts';
export { settingsJsonSchema } from './editor-schema.ts';
export type { ForeignSchemas, JsonSchema } from './json-schema.ts';
export {
  type LoadSettingsOptions,
  loadSettings,
  type Settings,
  type SettingsResult,
} from './load-settings.ts';
export { nearest } from './nearest.ts';
export { describeProblem, type Position, type SettingsProblem } from './problem.ts';
export { SettingsError, type SettingsErrorCode } from './settings-error.ts';
export { type Spend, strangerCap } from './spend-schema.ts';
export { settingsTemplate, writeSettingsTemplate } from './template.ts';
