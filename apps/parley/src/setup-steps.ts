import { hash } from 'node:crypto';
import type { OfferedPlatform } from '@parley/channel-chat-sdk/set-up';
import type { ChannelDefinition } from '@parley/channels';
import type { ChannelProbe } from '@parley/channels/probe';
import type { SetupChannel, SetupModel, SetupSteps } from '@parley/gateway';
import type { SetupResult, SetupState } from '@parley/gateway/api';
import { ProviderChoice } from '@parley/models';
import { type ModelProbe, probeProvider } from '@parley/models/probe';
import {
  type Block,
  describeProblem,
  getValueAt,
  isBlock,
  type SettingsProblem,
  type SettingsResult,
} from '@parley/settings';
import {
  editSettings,
  findAccountPath,
  listNewProblems,
  readRawSettingsFile,
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
import {
  createHostedChanges,
  describeNextSteps,
  type EnteredValues,
  findHostedPlatform,
  listHostedPlatforms,
} from './setup-hosted.ts';

/** How long (ms) a server or platform may take to respond; after that, the user can try again. */
const ANSWER_WITHIN_MS = 20_000;
/**
 * The placeholder used when no model is chosen; the server is asked only for its list of models.
 */
const NO_MODEL = 'none';
/** The maximum length, in characters, of the host in a key file's name. */
const MAX_HOST = 80;

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
      platforms: [...SETUP_PLATFORMS, ...(await listHostedPlatforms(settings.http.publicUrl))],
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

  async addOwner(person: string): Promise<SetupResult> {
    const change = { kind: 'add', path: ['owners'], value: person } as const;
    const answer = this.#write([change], 'You are the owner now. Write to your bot again.');
    if (answer.kind === 'done') await this.#deps.store.pairing.settle(...splitPersonId(person));
    return answer;
  }

  async tryModel(given: SetupModel): Promise<SetupResult> {
    const { secrets, clock, monotonic } = this.#deps;
    const parsed = ProviderChoice.safeParse({ ...given, model: given.model ?? NO_MODEL });
    if (!parsed.success) return createInvalidModelResult(parsed.error);
    if (given.apiKey !== undefined) secrets.add([given.apiKey]);
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const probe = await probeProvider(parsed.data, { signal, clock, monotonic });
    const { models, server } = probe;
    if (given.model === undefined && isOnlyModelMissing(probe))
      return { kind: 'works', text: `${server} answers. Now choose a model.`, models };
    if (probe.kind === 'problem') {
      // If no model is chosen, the message names only the provider.
      const reason =
        given.model === undefined ? probe.reason.replaceAll(`/${NO_MODEL}`, '') : probe.reason;
      return createSetupProblem(reason, probe.fix, models);
    }
    const text = `${probe.id} answered in ${(probe.tookMs / 1_000).toFixed(1)} s.`;
    return { kind: 'works', text, models };
  }

  async saveModel(given: SetupModel): Promise<SetupResult> {
    const parsed = ProviderChoice.safeParse(given);
    if (!parsed.success) return createInvalidModelResult(parsed.error);
    const { apiKey, ...model } = given;
    const secrets =
      apiKey === undefined ? [] : [{ name: getModelKeyFileName(given), text: apiKey }];
    const [secret] = secrets.map(({ name }) => createSecretReference(this.#deps.folder, name));
    const written = { ...model, ...(secret !== undefined && { apiKey: secret }) };
    const value: SettingsValue = Object.fromEntries(
      Object.entries(written).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const done = `${model.provider}/${model.model} answers from the next message on.`;
    return this.#write([{ kind: 'set', path: ['model'], value }], done, secrets);
  }

  async tryChannel({ channel, token, options }: SetupChannel): Promise<SetupResult> {
    const { definitions, secrets, clock } = this.#deps;
    const hosted = await findHostedPlatform(channel);
    if (hosted !== undefined) return this.#tryHosted(hosted, options ?? {});
    if (channel === 'whatsapp') return { kind: 'works', text: LINK, models: null };
    if (token === undefined) return createSetupProblem('Token: it is missing.', COPY_IT);
    secrets.add([token]);
    const definition = definitions.find(({ id }) => id === channel);
    const { apiRoot } = this.#readAccount(channel);
    const given = { ...(typeof apiRoot === 'string' && { apiRoot }), token };
    const parsed = definition?.settings.safeParse(given);
    if (definition?.probe === undefined || !parsed?.success) {
      const wrong = parsed?.error?.issues.map(({ message }) => message).join('; ');
      return createSetupProblem(
        `Token: ${wrong ? `it must be ${wrong}` : 'it cannot be tested'}.`,
        COPY_IT,
      );
    }
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const env = { signal, clock, values: null, wantsPicture: true };
    return toChannelSetupResult(await definition.probe(parsed.data, env));
  }

  async #tryHosted(platform: OfferedPlatform, given: EnteredValues): Promise<SetupResult> {
    const { secrets, clock, env, loaded } = this.#deps;
    const { findValueProblems, getSettingsBlock, probeEnteredValues } = await import(
      '@parley/channel-chat-sdk/set-up'
    );
    secrets.add(platform.asks.flatMap(({ key, isSecret }) => (isSecret && given[key]) || []));
    const block = this.#readAccount(platform.channel)[getSettingsBlock(platform.use)];
    const kept = listOtherOptions(block, platform);
    const all = { ...kept, ...given };
    const problems = findValueProblems(platform, all, env);
    if (problems.length > 0) return createSetupProblem(problems.join(' '), FILL_IN);
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const answer = toChannelSetupResult(await probeEnteredValues(platform, all, { signal, clock }));
    if (answer.kind !== 'works') return answer;
    const steps = await describeNextSteps(platform, given, loaded.settings.http.publicUrl);
    return { ...answer, text: [toSentence(answer.text), steps].join(' ').trim() };
  }

  async #saveHosted(platform: OfferedPlatform, given: EnteredValues): Promise<SetupResult> {
    const { folder, loaded } = this.#deps;
    const account = { channel: platform.channel, account: 'default' };
    const path = findAccountPath(folder.settingsFile, account);
    const { changes, secrets } = await createHostedChanges(folder, platform, given, path);
    const steps = await describeNextSteps(platform, given, loaded.settings.http.publicUrl);
    const labels = new Map(platform.asks.map(({ key, label }) => [key, label]));
    return this.#write(changes, ['Saved.', steps].join(' ').trim(), secrets, labels);
  }

  async saveChannel({ channel, token, phone, options }: SetupChannel): Promise<SetupResult> {
    const { folder } = this.#deps;
    const hosted = await findHostedPlatform(channel);
    if (hosted !== undefined) return this.#saveHosted(hosted, options ?? {});
    if (!SETUP_PLATFORMS.some(({ id }) => id === channel))
      return createSetupProblem(`There is no platform ${channel}.`, 'Choose one from the list.');
    const path = findAccountPath(folder.settingsFile, { channel, account: 'default' });
    const done = 'Saved. Connecting…';
    if (token !== undefined) {
      const secret = { name: `${channel}-token`, text: token };
      const value = createSecretReference(folder, secret.name);
      return this.#write([{ kind: 'set', path: [...path, 'token'], value }], done, [secret]);
    }
    return phone === undefined
      ? this.#write([{ kind: 'set', path, value: {} }], done)
      : this.#write([{ kind: 'set', path: [...path, 'phone'], value: phone }], done);
  }

  /** What the settings file contains about the account that *Set up* changes. */
  #readAccount(channel: string): Block {
    const { settingsFile } = this.#deps.folder;
    const path = findAccountPath(settingsFile, { channel, account: 'default' });
    const account = getValueAt(readRawSettingsFile(settingsFile).values, path);
    return isBlock(account) ? account : {};
  }

  #write(
    changes: readonly SettingsChange[],
    done: string,
    secrets: readonly NewSecret[] = [],
    labels: ReadonlyMap<string, string> = SETUP_FIELDS,
  ): SetupResult {
    this.#deps.secrets.add(secrets.map(({ text }) => text));
    const problems =
      secrets.length === 0 ? this.#edit(changes) : this.#editWithSecrets(changes, secrets);
    if (problems.length === 0) return { kind: 'done', text: done };
    const reason = problems.map((problem) => describeFieldProblem(problem, labels)).join('\n');
    return createSetupProblem(reason, 'Correct the problem and try again.');
  }

  /** Edits the settings. If problems prevent the edit, returns them without writing anything. */
  #edit(changes: readonly SettingsChange[], before?: SettingsResult): readonly SettingsProblem[] {
    const { folder, clock } = this.#deps;
    const file = folder.settingsFile;
    const check = (path: string) => (path === file && before) || this.#check(path);
    const edited = editSettings(changes, { file, check, now: new Date(clock()) });
    return edited.kind === 'refused' ? edited.problems : [];
  }

  /**
   * Writes secrets before the settings that refer to them, because they are checked together. Only
   * new problems prevent the edit. If the settings are refused, the previous secrets are restored.
   */
  #editWithSecrets(
    changes: readonly SettingsChange[],
    secrets: readonly NewSecret[],
  ): readonly SettingsProblem[] {
    const { folder } = this.#deps;
    const before = this.#check(folder.settingsFile);
    const undo: (() => void)[] = [];
    let isKept = false;
    try {
      for (const { name, text } of secrets) undo.push(replaceSecret(folder, name, text));
      const refused = this.#edit(changes, before);
      // If the settings already refer to the secret's file, the edit changes nothing and skips the
      // checks.
      const problems =
        refused.length > 0 ? refused : listNewProblems(before, this.#check(folder.settingsFile));
      isKept = problems.length === 0;
      return problems;
    } finally {
      if (!isKept) for (const one of undo.toReversed()) one();
    }
  }

  #check(file: string): SettingsResult {
    const { folder, env, definitions } = this.#deps;
    return createSettingsCheck({ folder, env, channels: definitions })(file);
  }
}

/**
 * The file in `secrets/` that holds the key of a model server. Each server has its own file,
 * because other settings, such as a fallback model, may still refer to an earlier key. The host
 * makes the name readable; the hash distinguishes servers on the same host.
 */
function getModelKeyFileName({
  provider,
  baseUrl,
}: Pick<SetupModel, 'provider' | 'baseUrl'>): string {
  const address = URL.parse(baseUrl ?? '');
  if (address === null) return `model-key-${provider}`;
  const { origin, pathname, host } = address;
  const server = JSON.stringify([provider, origin, pathname.replace(/\/+$/, '')]);
  const name = host.replaceAll(/[^a-z0-9.]+/g, '-').slice(0, MAX_HOST);
  return `model-key-${name}-${hash('sha256', server).slice(0, 8)}`;
}

/**
 * Returns whether the server accepts the key, although no model was requested. Some servers list
 * their models without checking the key.
 */
function isOnlyModelMissing(probe: ModelProbe): boolean {
  if (probe.kind === 'works') return true;
  const { failure, models } = probe;
  if (['unauthorised', 'no-credit', 'unreachable'].includes(failure)) return false;
  return models !== null || failure === 'not-found' || failure === 'refused';
}

const FILL_IN = 'Fill in this field and try again.';

/** Describes missing or invalid fields of a model by their labels in the form. */
function createInvalidModelResult({ issues }: z.ZodError): SetupResult {
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
 * Describes a problem with a field by its label in the form or, without a label, by its path in the
 * settings file.
 */
function describeFieldProblem(
  problem: SettingsProblem,
  labels: ReadonlyMap<string, string>,
): string {
  const field = labels.get(problem.path.split('.').at(-1) ?? '');
  return field === undefined ? describeProblem(problem) : `${field}: expected ${problem.expected}.`;
}

const LINK =
  'WhatsApp does not need a token. It shows a code that your phone scans or that you type on the phone.';
const COPY_IT = 'Copy the whole token.';

function createSetupProblem(
  reason: string,
  fix: string,
  models: readonly string[] | null = null,
): SetupResult {
  return { kind: 'problem', reason, fix, models };
}

function toChannelSetupResult(probe: ChannelProbe): SetupResult {
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

/** Options in the settings that *Set up* does not ask for, such as the address of a server. */
function listOtherOptions(block: unknown, { asks }: OfferedPlatform): EnteredValues {
  const asked = new Set(asks.map(({ key }) => key));
  return Object.fromEntries(
    Object.entries(isBlock(block) ? block : {}).filter(
      (entry): entry is [string, string] =>
        !asked.has(entry[0]) && typeof entry[1] === 'string' && !entry[1].includes('${'),
    ),
  );
}

function toSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
