import { type Logger, ParleyError } from '@parley/core';
import type { Adapter } from 'chat';
import { factoryOf } from './catalog.ts';
import { chatLogger } from './logs.ts';
import type { ChatSdkSettings } from './settings.ts';
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
  const known = factoryOf(use);
  const factories =
    known === undefined ? Object.keys(library).filter((name) => FACTORY.test(name)) : [known];
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
  { options, env }: Pick<ChatSdkSettings, 'options' | 'env'>,
  { log, secret }: { readonly log: Logger; readonly secret: string },
): Adapter {
  const logger = chatLogger(log);
  if (use !== '@chat-adapter/slack')
    return withVariables(env, () => factory({ ...options, logger }));
  return factory({ ...slackOptions(options, { log, secret }), logger });
}

/**
 * Calls a factory that reads its secrets from the environment of the process. Nothing else runs
 * meanwhile, so nothing else sees them, and accounts of the same adapter do not share them.
 */
function withVariables<Made>(env: Readonly<Record<string, string>>, make: () => Made): Made {
  const before = Object.keys(env).map((name) => [name, process.env[name]] as const);
  Object.assign(process.env, env);
  try {
    return make();
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}
