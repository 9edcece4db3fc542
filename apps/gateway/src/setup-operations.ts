import { defineChangeOperation, defineReadOperation } from '@parley/core';
import { z } from 'zod';
import type { SetupResult, SetupState } from './http/api.ts';

const Word = z.string().trim().min(1).max(4_000);
/** It may also be the content of a key file. */
const Text = z.string().trim().min(1).max(20_000);

const Model = {
  provider: z.enum(['openai-compatible', 'openai', 'anthropic']),
  baseUrl: Word.optional(),
  apiKey: Word.optional(),
  /** If absent, the server is asked for its list of models. */
  model: Word.optional(),
};
const Channel = {
  channel: z.string().regex(/^[a-z][a-z0-9-]{0,31}$/),
  token: Word.optional(),
  /** The values for a platform that asks for several, by key. */
  options: z.record(z.string().regex(/^\w{1,64}$/), Text).optional(),
  /** The phone number for which the linking code is created. */
  phone: Word.optional(),
};

export type SetupModel = z.output<z.ZodObject<typeof Model>>;
export type SetupChannel = z.output<z.ZodObject<typeof Channel>>;

/**
 * The steps of the guided setup. Tests query the server or the platform without changing the
 * settings.
 */
export interface SetupSteps {
  state(): Promise<SetupState>;
  tryModel(model: SetupModel): Promise<SetupResult>;
  tryChannel(channel: SetupChannel): Promise<SetupResult>;
  /**
   * Writes the model into the settings. All functions that save throw ParleyError if the settings
   * file is not writable.
   */
  saveModel(model: SetupModel): Promise<SetupResult>;
  saveChannel(channel: SetupChannel): Promise<SetupResult>;
  /** Makes a person, such as `telegram:42`, an owner. */
  addOwner(person: string): Promise<SetupResult>;
}

interface SetupOperationDeps {
  setup(): Promise<SetupSteps>;
}

const RUNNING = { running: true } as const;

/**
 * Operations of the guided setup (U02). Setup operations accept keys and decide who is an owner, so
 * they are for owners only.
 */
export const operations = {
  state: defineReadOperation(
    'Show the current model, channels and owners, and the available choices',
    {},
    async ({ setup }: SetupOperationDeps) => (await setup()).state(),
    RUNNING,
  ),
  'try-model': defineChangeOperation(
    'Ask a model server for its models or for a one-word answer; nothing is saved',
    Model,
    async ({ setup }: SetupOperationDeps, model) => (await setup()).tryModel(model),
    RUNNING,
  ),
  'save-model': defineChangeOperation(
    'Write the model into the settings file',
    Model,
    async ({ setup }: SetupOperationDeps, model) => (await setup()).saveModel(model),
    RUNNING,
  ),
  'try-channel': defineChangeOperation(
    'Ask a platform which bot a token belongs to; nothing is saved',
    Channel,
    async ({ setup }: SetupOperationDeps, channel) => (await setup()).tryChannel(channel),
    RUNNING,
  ),
  'save-channel': defineChangeOperation(
    'Write a channel into the settings file',
    Channel,
    async ({ setup }: SetupOperationDeps, channel) => (await setup()).saveChannel(channel),
    RUNNING,
  ),
  'add-owner': defineChangeOperation(
    'Make a person an owner in the settings file',
    { person: z.string().regex(/^[a-z][a-z0-9-]*:\S+$/) },
    async ({ setup }: SetupOperationDeps, { person }) => (await setup()).addOwner(person),
    RUNNING,
  ),
};
