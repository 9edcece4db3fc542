import { type Logger, ParleyError } from '@parley/core';
import type { Adapter } from 'chat';
import { chatLogger } from './logs.ts';
import { slackOptions } from './slack.ts';

/** Makes an adapter from its options. */
export type AdapterFactory = (options: Readonly<Record<string, unknown>>) => Adapter;

const FACTORY = /^create\w+Adapter$/;

/**
 * Loads the package of an adapter and finds its factory.
 * @throws Error with the code ERR_MODULE_NOT_FOUND when it is not installed.
 */
export async function loadFactory(use: string): Promise<AdapterFactory> {
  const library: Record<string, unknown> = await import(use);
  const factories = Object.keys(library).filter((name) => FACTORY.test(name));
  const [name = ''] = factories;
  const factory = library[name];
  if (factories.length === 1 && typeof factory === 'function') return factory as AdapterFactory;
  throw new ParleyError({
    code: 'chat-sdk-adapter',
    message: `The package ${use} is not an adapter of the Chat SDK: it has ${factories.length} functions named create…Adapter. Name another package in "use".`,
    retryable: false,
  });
}

/** Makes the adapter of an account. It opens no connection. */
export function makeAdapter(
  use: string,
  factory: AdapterFactory,
  options: Readonly<Record<string, unknown>>,
  { log, secret }: { readonly log: Logger; readonly secret: string },
): Adapter {
  const logger = chatLogger(log);
  if (use !== '@chat-adapter/slack') return factory({ ...options, logger });
  return factory({ ...slackOptions(options, { log, secret }), logger });
}
