export { describeRoute as placeOfRoute } from './agents-schema.ts';
export { findNearestWord as nearestWord } from './check.ts';
export type { Settings } from './complete-settings.ts';
export { createSettingsJsonSchema as settingsJsonSchema } from './json-schema.ts';
export { getStrangerCap as strangerCap } from './limits-schema.ts';
export { loadSettings, type SettingsResult, writeSettingsTemplate } from './load-settings.ts';
export { findClearSecrets as clearSecretsIn } from './secrets.ts';
export { describeProblem, type SettingsProblem } from './source.ts';
