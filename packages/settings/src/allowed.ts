import { createRequire } from 'node:module';
import type { z } from 'zod';
import { ACCOUNT_NAME, CommonAccountSettings } from './channels.ts';
import { CoreSettings } from './core-schema.ts';
import type * as Json from './json-schema.ts';
import type { AllowedEntries, SettingsPath } from './source.ts';

const require = createRequire(import.meta.url);

/**
 * The schemas from which the JSON Schema is composed, together with those of channels and models.
 */
export const OWN_SCHEMAS: Json.BuiltInSchemas = {
  core: CoreSettings,
  account: CommonAccountSettings,
  accountName: ACCOUNT_NAME,
};

/**
 * What is allowed at each path of the settings. The JSON Schema is loaded and composed only when a
 * mistake has to be explained.
 */
export function createSettingsEntryLookup(
  foreign: Json.ExternalSchemas,
): (path: SettingsPath) => AllowedEntries {
  return createAllowedEntryLookup(() => {
    const { composeJsonSchema }: typeof import('./json-schema.ts') = require('./json-schema.ts');
    return composeJsonSchema(OWN_SCHEMAS, foreign);
  });
}

/** Like `createSettingsEntryLookup`, for a profile. */
export function createProfileEntryLookup(
  profile: z.ZodType,
  model: z.ZodType,
): (path: SettingsPath) => AllowedEntries {
  return createAllowedEntryLookup(() => {
    const {
      createProfileJsonSchema,
    }: typeof import('./json-schema.ts') = require('./json-schema.ts');
    return createProfileJsonSchema(profile, model);
  });
}

function createAllowedEntryLookup(compose: () => Json.JsonSchema) {
  let shape: Json.JsonSchema | undefined;
  return (path: SettingsPath): AllowedEntries => {
    const { listAllowedEntries }: typeof import('./json-schema.ts') = require('./json-schema.ts');
    shape ??= compose();
    return listAllowedEntries(shape, path);
  };
}
