import type { ChannelDefinition } from '@parley/channels';
import type { ChannelProbe } from '@parley/channels/probe';
import type { SetupChannel, SetupModel, SetupSteps } from '@parley/gateway';
import type { SetupAnswer, SetupState } from '@parley/gateway/api';
import { ProviderChoice } from '@parley/models';
import { type ModelProbe, probeProvider } from '@parley/models/probe';
import { describeProblem, type SettingsProblem, type SettingsResult } from '@parley/settings';
import {
  editSettings,
  findAccountPath,
  listNewProblems,
  readWrittenSettings,
  type SettingsChange,
  type SettingsValue,
} from '@parley/settings/edit';
import type { Store } from '@parley/store';
import type { z } from 'zod';
import type { AgentRuntime } from './agent-runtime.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import { createSecretReference, replaceSecret } from './secret-files.ts';
import { createSettingsCheck, type LoadedSettings } from './settings.ts';
import { listSetupProviders, SETUP_FIELDS, SETUP_PLATFORMS } from './setup-choices.ts';

/** How long (ms) a server or platform may take to respond; after that, the user can try again. */
const ANSWER_WITHIN_MS = 20_000;
/**
 * The placeholder used when no model is chosen; the server is asked only for its list of models.
 */
const NO_MODEL = 'none';
/** The name of the file in `secrets/` that contains the model's key. */
const MODEL_KEY = 'model-key';

/** A key or token, with the name of its file in `secrets/`. */
interface NewSecret {
  readonly name: string;
  readonly text: string;
}

interface SetupDeps
  extends Pick<StartOptions, 'folder' | 'env' | 'clock' | 'monotonic'>,
    Pick<OpenLog, 'secrets'> {
  readonly loaded: Pick<LoadedSettings, 'settings' | 'channels'>;
  readonly model: Pick<AgentRuntime['model'], 'line'>;
  readonly definitions: readonly ChannelDefinition[];
  readonly store: { readonly pairing: Pick<Store['pairing'], 'pending' | 'settle'> };
}

/**
 * The guided setup of the model, the channels and the owner. The file watcher applies the changes
 * to the settings file.
 */
export class Setup implements SetupSteps {
  readonly #deps: SetupDeps;

  constructor(deps: SetupDeps) {
    this.#deps = deps;
  }

  async state(): Promise<SetupState> {
    const { loaded, model, store, env, clock } = this.#deps;
    const { settings, channels } = loaded;
    const [providers, waiting] = await Promise.all([
      listSetupProviders({ ollamaHost: env.OLLAMA_HOST }),
      store.pairing.pending(clock()),
    ]);
    return {
      model: model.line(),
      isOffline: model.line().startsWith('offline'),
      providers,
      platforms: SETUP_PLATFORMS,
      channels: Object.values(channels).flatMap(({ channel }) =>
        channel === 'web' || channel === 'terminal' ? [] : [channel],
      ),
      owners: settings.owners,
      waiting: waiting
        .map(({ channel, account, senderId, senderName: name }) => {
          return { channel, account, person: `${channel}:${senderId}`, name };
        })
        // Owners named in the settings have access, even if an earlier request of theirs is still
        // pending.
        .filter(({ person }) => !settings.owners.includes(person)),
    };
  }

  async addOwner(person: string): Promise<SetupAnswer> {
    const change = { kind: 'add', path: ['owners'], value: person } as const;
    const answer = this.#write(change, 'You are the owner now. Write to your bot again.');
    if (answer.kind === 'done') await this.#deps.store.pairing.settle(...splitPersonId(person));
    return answer;
  }

  async tryModel(given: SetupModel): Promise<SetupAnswer> {
    const { secrets, clock, monotonic } = this.#deps;
    const parsed = ProviderChoice.safeParse({ ...given, model: given.model ?? NO_MODEL });
    if (!parsed.success) return createUnfitModel(parsed.error);
    if (given.apiKey !== undefined) secrets.add([given.apiKey]);
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const probe = await probeProvider(parsed.data, { signal, clock, monotonic });
    const { models, server } = probe;
    if (given.model === undefined && isOnlyModelMissing(probe))
      return { kind: 'works', text: `${server} answers. Choose a model.`, models };
    if (probe.kind === 'problem') {
      // If no model is chosen, the message names only the provider.
      const reason =
        given.model === undefined ? probe.reason.replaceAll(`/${NO_MODEL}`, '') : probe.reason;
      return createSetupProblem(reason, probe.fix, models);
    }
    const text = `${probe.id} answered in ${(probe.tookMs / 1_000).toFixed(1)} s.`;
    return { kind: 'works', text, models };
  }

  async saveModel(given: SetupModel): Promise<SetupAnswer> {
    const parsed = ProviderChoice.safeParse(given);
    if (!parsed.success) return createUnfitModel(parsed.error);
    const { apiKey, ...model } = given;
    const secret = apiKey === undefined ? null : { name: MODEL_KEY, text: apiKey };
    const apiKeyWritten = secret && createSecretReference(this.#deps.folder, secret.name);
    const written = { ...model, ...(apiKeyWritten !== null && { apiKey: apiKeyWritten }) };
    const value: SettingsValue = Object.fromEntries(
      Object.entries(written).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const done = `${model.provider}/${model.model} answers from the next message on.`;
    return this.#write({ kind: 'set', path: ['model'], value }, done, secret);
  }

  async tryChannel({ channel, token }: SetupChannel): Promise<SetupAnswer> {
    const { folder, definitions, secrets, clock } = this.#deps;
    if (channel === 'whatsapp') return { kind: 'works', text: LINK, models: null };
    if (token === undefined) return createSetupProblem('Token: it is missing.', COPY_IT);
    secrets.add([token]);
    const definition = definitions.find(({ id }) => id === channel);
    const given = {
      ...findApiServer(readWrittenSettings(folder.settingsFile).values, channel),
      token,
    };
    const parsed = definition?.settings.safeParse(given);
    if (definition?.probe === undefined || !parsed?.success) {
      const wrong = parsed?.error?.issues.map(({ message }) => message).join('; ');
      return createSetupProblem(
        `Token: ${wrong ? `it must be ${wrong}` : 'it cannot be tried'}.`,
        COPY_IT,
      );
    }
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const env = { signal, clock, values: null, wantsPicture: true };
    return toChannelAnswer(await definition.probe(parsed.data, env));
  }

  async saveChannel({ channel, token, phone }: SetupChannel): Promise<SetupAnswer> {
    const { folder } = this.#deps;
    const path = findAccountPath(folder.settingsFile, { channel, account: 'default' });
    const done = 'Saved. Connecting…';
    if (token !== undefined) {
      const secret = { name: `${channel}-token`, text: token };
      const value = createSecretReference(folder, secret.name);
      return this.#write({ kind: 'set', path: [...path, 'token'], value }, done, secret);
    }
    return phone === undefined
      ? this.#write({ kind: 'set', path, value: {} }, done)
      : this.#write({ kind: 'set', path: [...path, 'phone'], value: phone }, done);
  }

  #write(change: SettingsChange, done: string, secret: NewSecret | null = null): SetupAnswer {
    if (secret !== null) this.#deps.secrets.add([secret.text]);
    const problems = secret === null ? this.#edit(change) : this.#editWithSecret(change, secret);
    if (problems.length === 0) return { kind: 'done', text: done };
    const reason = problems.map(describeFieldProblem).join('\n');
    return createSetupProblem(reason, 'Correct that and try again.');
  }

  /** Edits the settings. If problems prevent the edit, returns them and writes nothing. */
  #edit(change: SettingsChange, before?: SettingsResult): readonly SettingsProblem[] {
    const { folder, clock } = this.#deps;
    const file = folder.settingsFile;
    const check = (path: string) => (path === file && before) || this.#check(path);
    const edited = editSettings([change], { file, check, now: new Date(clock()) });
    return edited.kind === 'refused' ? edited.problems : [];
  }

  /**
   * The secret is written before the settings that refer to it, because both are checked together.
   * Problems that existed before are ignored. If the settings are refused, the previous secret is
   * restored.
   */
  #editWithSecret(change: SettingsChange, secret: NewSecret): readonly SettingsProblem[] {
    const { folder } = this.#deps;
    const before = this.#check(folder.settingsFile);
    const undo = replaceSecret(folder, secret.name, secret.text);
    let isKept = false;
    try {
      const refused = this.#edit(change, before);
      // If the settings already refer to the secret's file, the edit changes nothing and skips the
      // checks.
      const problems =
        refused.length > 0 ? refused : listNewProblems(before, this.#check(folder.settingsFile));
      isKept = problems.length === 0;
      return problems;
    } finally {
      if (!isKept) undo();
    }
  }

  #check(file: string): SettingsResult {
    const { folder, env, definitions } = this.#deps;
    return createSettingsCheck({ folder, env, channels: definitions })(file);
  }
}

/**
 * Returns whether the server accepts the key when no model is requested. Some servers list their
 * models without checking the key.
 */
function isOnlyModelMissing(probe: ModelProbe): boolean {
  if (probe.kind === 'works') return true;
  const { failure, models } = probe;
  if (['unauthorised', 'no-credit', 'unreachable'].includes(failure)) return false;
  return models !== null || failure === 'not-found' || failure === 'refused';
}

const FILL_IN = 'Fill it in and try again.';

/** Describes missing or invalid fields of a model by their labels in the form. */
function createUnfitModel({ issues }: z.ZodError): SetupAnswer {
  const reasons = issues.map(({ path, code, message }) => {
    const key = String(path.at(-1) ?? '');
    const isMissing = code === 'invalid_type';
    const wrong = key === 'baseUrl' ? ADDRESS : isMissing ? 'it is missing' : message;
    return `${SETUP_FIELDS.get(key) ?? key}: ${wrong}.`;
  });
  return createSetupProblem([...new Set(reasons)].join(' '), FILL_IN);
}

const ADDRESS = 'it must be a URL such as http://127.0.0.1:8080/v1';

/**
 * Describes a problem by the label of its field in the form; without a label, by its path in the
 * settings file.
 */
function describeFieldProblem(problem: SettingsProblem): string {
  const field = SETUP_FIELDS.get(problem.path.split('.').at(-1) ?? '');
  return field === undefined ? describeProblem(problem) : `${field}: expected ${problem.expected}.`;
}

const LINK =
  'WhatsApp needs no token: it shows a code that your phone scans, or that you type on it.';
const COPY_IT = 'Copy the whole token.';

function createSetupProblem(
  reason: string,
  fix: string,
  models: readonly string[] | null = null,
): SetupAnswer {
  return { kind: 'problem', reason, fix, models };
}

function toChannelAnswer(probe: ChannelProbe): SetupAnswer {
  switch (probe.kind) {
    case 'works': {
      const warnings = probe.warnings.map(({ reason, fix }) => ` ${reason}. ${fix}`);
      const { as: name, picture, invitation = null } = probe;
      const bot = { name, invitation, picture: toBase64(picture) };
      return { kind: 'works', text: `It is ${name}.${warnings.join('')}`, models: null, bot };
    }
    case 'unlinked':
      return { kind: 'works', text: probe.fix, models: null };
    case 'unknown':
      return { kind: 'works', text: probe.reason, models: null };
    case 'problem':
      return createSetupProblem(probe.reason, probe.fix);
  }
}

/** Splits a person such as `telegram:42` into the channel and the person's id on that channel. */
function splitPersonId(person: string): [channel: string, senderId: string] {
  const at = person.indexOf(':');
  return [person.slice(0, at), person.slice(at + 1)];
}

function toBase64(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : Buffer.from(bytes).toString('base64');
}

/** Finds the self-hosted API server that the settings already name. */
function findApiServer(values: object | null, channel: string): { readonly apiRoot?: string } {
  const all: unknown = values !== null && 'channels' in values ? values.channels : undefined;
  const block: unknown = isSettingsBlock(all) ? all[channel] : undefined;
  const apiRoot = isSettingsBlock(block) ? block.apiRoot : undefined;
  return typeof apiRoot === 'string' ? { apiRoot } : {};
}

function isSettingsBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
