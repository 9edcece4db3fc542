import type { OfferedPlatform } from '@parley/channel-chat-sdk/set-up';
import type { SetupPlatform } from '@parley/gateway/api';
import type { SettingsChange } from '@parley/settings/edit';
import type { DataFolder } from './data-folder.ts';
import { createSecretReference } from './secret-files.ts';
import { webhookAddress, webhookPath } from './webhook-address.ts';

/** The values of a hosted platform that a person entered, by their keys. */
export type Given = Readonly<Record<string, string>>;

/** Loads what is known about the platforms that Chat SDK adapters connect. */
function loadSetUp() {
  return import('@parley/channel-chat-sdk/set-up');
}

/** The hosted platforms that *Set up* offers. */
export async function hostedPlatforms(
  publicUrl: string | undefined,
): Promise<readonly SetupPlatform[]> {
  const { offeredPlatforms } = await loadSetUp();
  return offeredPlatforms().map(({ channel: id, asks: fields, use: _, ...facts }) => ({
    ...{ ...facts, id, asks: 'options', fields },
    webhook: webhookAddress(webhookPath(id, 'default'), publicUrl),
  }));
}

/** The hosted platform with this channel name; undefined if there is none. */
export async function hostedPlatform(channel: string): Promise<OfferedPlatform | undefined> {
  const { offeredPlatforms } = await loadSetUp();
  return offeredPlatforms().find((platform) => platform.channel === channel);
}

/** The changes that write an account, and the secrets that they refer to. */
export async function hostedChanges(
  folder: DataFolder,
  { channel, use, asks }: OfferedPlatform,
  given: Given,
  path: SettingsChange['path'],
) {
  const { blockOf } = await loadSetUp();
  const block = [...path, blockOf(use)];
  const secrets = asks.flatMap(({ key, isSecret }) => {
    const text = given[key];
    return isSecret && text !== undefined ? [{ key, name: fileName(channel, key), text }] : [];
  });
  const changes = asks.map(({ key }): SettingsChange => {
    const secret = secrets.find((one) => one.key === key);
    const value = secret === undefined ? given[key] : createSecretReference(folder, secret.name);
    // Values of another way to connect, which the person did not choose this time.
    if (value === undefined) return { kind: 'remove', path: [...block, key] };
    return { kind: 'set', path: [...block, key], value };
  });
  const useIt = { kind: 'set', path: ['channels', channel, 'use'], value: use } as const;
  return { changes: [useIt, ...changes], secrets };
}

/** `slack-bot-token`, the file of a secret in `secrets/`. */
function fileName(channel: string, key: string): string {
  const words = key
    .replaceAll(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();
  return words.startsWith(`${channel}-`) ? words : `${channel}-${words}`;
}

/** What is left to do once an account is saved, as sentences. */
export async function nextSteps(
  { channel, use, name }: OfferedPlatform,
  given: Given,
  publicUrl: string | undefined,
): Promise<string> {
  const { isCalledWith, missingAdapter } = await loadSetUp();
  const line = missingAdapter(use);
  const address = webhookAddress(webhookPath(channel, 'default'), publicUrl);
  return [
    ...(line === undefined ? [] : [`Install its package with "${line}", and start Parley again.`]),
    ...(isCalledWith(use, given) ? [`The address that ${name} calls: ${address}.`] : []),
  ].join(' ');
}
