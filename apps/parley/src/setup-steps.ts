import type { ChannelDefinition } from '@parley/channels';
import type { ChannelProbe } from '@parley/channels/probe';
import type { SetupChannel, SetupModel, SetupSteps } from '@parley/gateway';
import type { SetupAnswer, SetupState } from '@parley/gateway/api';
import { ProviderChoice } from '@parley/models';
import { type ModelProbe, probeProvider } from '@parley/models/probe';
import { describeProblem } from '@parley/settings';
import {
  accountPath,
  editSettings,
  readWritten,
  type SettingsChange,
  type SettingsValue,
} from '@parley/settings/edit';
import type { Store } from '@parley/store';
import type { AgentRuntime } from './agent-runtime.ts';
import type { OpenLog, StartOptions } from './process-options.ts';
import { checkAs, type LoadedSettings } from './settings.ts';
import { SETUP_PLATFORMS, setupProviders } from './setup-choices.ts';

/** A server or a platform that takes longer is asked again by hand. In ms. */
const ANSWER_WITHIN_MS = 20_000;
/** Asks for a list alone, where no model is chosen yet. */
const NO_MODEL = 'none';

interface Deps
  extends Pick<StartOptions, 'folder' | 'env' | 'clock' | 'monotonic'>,
    Pick<OpenLog, 'secrets'> {
  readonly loaded: Pick<LoadedSettings, 'settings' | 'channels'>;
  readonly model: Pick<AgentRuntime['model'], 'line'>;
  readonly definitions: readonly ChannelDefinition[];
  readonly store: { readonly pairing: Pick<Store['pairing'], 'pending'> };
}

/** The guided setup: model, channel, owner. What it writes is taken over by the watch of the file. */
export class Setup implements SetupSteps {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async state(): Promise<SetupState> {
    const { loaded, model, store, env, clock } = this.#deps;
    const { settings, channels } = loaded;
    const [providers, waiting] = await Promise.all([
      setupProviders(env.OLLAMA_HOST),
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
      waiting: waiting.map(({ channel, account, senderId, senderName: name }) => {
        return { channel, account, person: `${channel}:${senderId}`, name };
      }),
    };
  }

  async addOwner(person: string): Promise<SetupAnswer> {
    const change = { kind: 'add', path: ['owners'], value: person } as const;
    return this.#write(change, 'It is yours now: write to your bot again.');
  }

  async tryModel(given: SetupModel): Promise<SetupAnswer> {
    const { secrets, clock, monotonic } = this.#deps;
    const parsed = ProviderChoice.safeParse({ ...given, model: given.model ?? NO_MODEL });
    if (!parsed.success) {
      const missing = parsed.error.issues.map(({ path }) => path.join('.')).join(', ');
      return setupProblem('Something is missing.', `Fill in: ${missing}.`);
    }
    if (given.apiKey !== undefined) secrets.add([given.apiKey]);
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const probe = await probeProvider(parsed.data, { signal, clock, monotonic });
    const { models, server } = probe;
    if (given.model === undefined && isOnlyModelMissing(probe))
      return { kind: 'works', text: `${server} answers. Choose a model.`, models };
    if (probe.kind === 'problem') return setupProblem(probe.reason, probe.fix, models);
    const text = `${probe.id} answered in ${(probe.tookMs / 1_000).toFixed(1)} s.`;
    return { kind: 'works', text, models };
  }

  async saveModel(model: SetupModel): Promise<SetupAnswer> {
    const value: SettingsValue = Object.fromEntries(
      Object.entries(model).filter((entry): entry is [string, string] => entry[1] !== undefined),
    );
    const done = `${model.provider}/${model.model} answers from the next message on.`;
    return this.#write({ kind: 'set', path: ['model'], value }, done);
  }

  async tryChannel({ channel, token }: SetupChannel): Promise<SetupAnswer> {
    const { folder, definitions, secrets, clock } = this.#deps;
    if (channel === 'whatsapp') return { kind: 'works', text: LINK, models: null };
    if (token === undefined) return setupProblem('The token is missing.', COPY_IT);
    secrets.add([token]);
    const definition = definitions.find(({ id }) => id === channel);
    const given = { ...serverOf(readWritten(folder.settingsFile).values, channel), token };
    const parsed = definition?.settings.safeParse(given);
    if (definition?.probe === undefined || !parsed?.success) {
      const wrong = parsed?.error?.issues.map(({ message }) => message).join('; ');
      return setupProblem(`The token ${wrong ? `must be ${wrong}` : 'cannot be tried'}.`, COPY_IT);
    }
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const env = { signal, clock, values: null, wantsPicture: true };
    return channelAnswer(await definition.probe(parsed.data, env));
  }

  async saveChannel({ channel, token, phone }: SetupChannel): Promise<SetupAnswer> {
    const { folder, secrets } = this.#deps;
    if (token !== undefined) secrets.add([token]);
    const path = accountPath(folder.settingsFile, { channel, account: 'default' });
    const [name, value] = token === undefined ? ['phone', phone] : ['token', token];
    const change: SettingsChange =
      value === undefined
        ? { kind: 'set', path, value: {} }
        : { kind: 'set', path: [...path, name], value };
    return this.#write(change, 'Saved; it connects in a moment.');
  }

  #write(change: SettingsChange, done: string): SetupAnswer {
    const { folder, env, definitions, clock } = this.#deps;
    const file = folder.settingsFile;
    const check = checkAs({ folder, env, channels: definitions });
    const edited = editSettings([change], { file, check, now: new Date(clock()) });
    if (edited.kind !== 'refused') return { kind: 'done', text: done };
    const reason = edited.problems.map(describeProblem).join('\n');
    return setupProblem(reason, 'Correct that and try again.');
  }
}

/** Whether a server that was asked for no model in particular takes the key; some list their models without one. */
function isOnlyModelMissing(probe: ModelProbe): boolean {
  if (probe.kind === 'works') return true;
  const { failure, models } = probe;
  if (['unauthorised', 'no-credit', 'unreachable'].includes(failure)) return false;
  return models !== null || failure === 'not-found' || failure === 'refused';
}

const LINK =
  'WhatsApp needs no token: it shows a code that your phone scans, or that you type on it.';
const COPY_IT = 'Copy the whole token.';

function setupProblem(
  reason: string,
  fix: string,
  models: readonly string[] | null = null,
): SetupAnswer {
  return { kind: 'problem', reason, fix, models };
}

function channelAnswer(probe: ChannelProbe): SetupAnswer {
  switch (probe.kind) {
    case 'works': {
      const warnings = probe.warnings.map(({ reason, fix }) => ` ${reason}. ${fix}`);
      const { as: name, picture, invitation = null } = probe;
      const bot = { name, invitation, picture: base64Of(picture) };
      return { kind: 'works', text: `It is ${name}.${warnings.join('')}`, models: null, bot };
    }
    case 'unlinked':
      return { kind: 'works', text: probe.fix, models: null };
    case 'unknown':
      return { kind: 'works', text: probe.reason, models: null };
    case 'problem':
      return setupProblem(probe.reason, probe.fix);
  }
}

function base64Of(bytes: Uint8Array | undefined): string | null {
  return bytes === undefined ? null : Buffer.from(bytes).toString('base64');
}

/** A server of one's own that the file names already. */
function serverOf(values: object | null, channel: string): { readonly apiRoot?: string } {
  const all: unknown = values !== null && 'channels' in values ? values.channels : undefined;
  const block: unknown = isSettingsBlock(all) ? all[channel] : undefined;
  const apiRoot = isSettingsBlock(block) ? block.apiRoot : undefined;
  return typeof apiRoot === 'string' ? { apiRoot } : {};
}

function isSettingsBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
