import type { OfferedPlatform } from '@parley/channel-chat-sdk/set-up';
import type { SetupPlatform } from '@parley/gateway/api';
import type { SettingsChange } from '@parley/settings/edit';
import type { DataFolder } from './data-folder.ts';
import { createSecretReference } from './secret-files.ts';
import { formatWebhookAddress, toWebhookPath } from './webhook-address.ts';

/** The values that a person entered for a hosted platform, by key. */
export type EnteredValues = Readonly<Record<string, string>>;

/** Loads the descriptions of the platforms that Chat SDK adapters connect. */
function loadPlatformSetup() {
  return import('@parley/channel-chat-sdk/set-up');
}

/** The hosted platforms that *Set up* offers. */
export async function listHostedPlatforms(
  publicUrl: string | undefined,
): Promise<readonly SetupPlatform[]> {
  const { listOfferedPlatforms } = await loadPlatformSetup();
  return listOfferedPlatforms().map(({ channel: id, asks: fields, use: _, ...facts }) => ({
    ...{ ...facts, id, asks: 'options', fields },
    webhook: formatWebhookAddress(toWebhookPath(id, 'default'), publicUrl),
  }));
}

/** The hosted platform with this channel name; undefined if there is none. */
export async function findHostedPlatform(channel: string): Promise<OfferedPlatform | undefined> {
  const { listOfferedPlatforms } = await loadPlatformSetup();
  return listOfferedPlatforms().find((platform) => platform.channel === channel);
}

/** The changes that write an account to the settings, and the secrets to which they refer. */
export async function createHostedChanges(
  folder: DataFolder,
  { channel, use, asks }: OfferedPlatform,
  given: EnteredValues,
  path: SettingsChange['path'],
) {
  const { getSettingsBlock } = await loadPlatformSetup();
  const block = [...path, getSettingsBlock(use)];
  const secrets = asks.flatMap(({ key, isSecret }) => {
    const text = given[key];
    return isSecret && text !== undefined
      ? [{ key, name: toSecretFileName(channel, key), text }]
      : [];
  });
  const changes = asks.map(({ key }): SettingsChange => {
    const secret = secrets.find((one) => one.key === key);
    const value = secret === undefined ? given[key] : createSecretReference(folder, secret.name);
    // The field belongs to another connection mode, which the person did not choose this time.
    if (value === undefined) return { kind: 'remove', path: [...block, key] };
    return { kind: 'set', path: [...block, key], value };
  });
  const useIt = { kind: 'set', path: ['channels', channel, 'use'], value: use } as const;
  return { changes: [useIt, ...changes], secrets };
}

/** Returns the name of a secret's file in `secrets/`, such as `slack-bot-token`. */
function toSecretFileName(channel: string, key: string): string {
  const words = key
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
  return words.startsWith(`${channel}-`) ? words : `${channel}-${words}`;
}

/** Returns the remaining steps after an account is saved, as sentences. */
export async function describeNextSteps(
  { channel, use, name }: OfferedPlatform,
  given: EnteredValues,
  publicUrl: string | undefined,
): Promise<string> {
  const { needsWebhookAddress, findInstallCommand } = await loadPlatformSetup();
  const line = findInstallCommand(use);
  const address = formatWebhookAddress(toWebhookPath(channel, 'default'), publicUrl);
  return [
    ...(line === undefined ? [] : [`Install its package with "${line}", and restart Parley.`]),
    ...(needsWebhookAddress(use, given) ? [`The address that ${name} calls: ${address}.`] : []),
  ].join(' ');
}
