import type { SetupAnswer, SetupState } from '@parley/gateway/api';
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ask } from './gateway.ts';
import { hrefOf } from './route.ts';
import { useData, useScope } from './ui/data.tsx';
import { ColumnView } from './ui/frames.tsx';
import { ActionButton, List, Show } from './ui/widgets.tsx';

/** Where the settings that a step has written are taken over is looked at this often, in ms. */
const LOOK_EVERY_MS = 3_000;

/** From nothing to a bot that answers: a model, a channel, and who owns it (U02). */
export function SetupView(): VNode {
  const setup = useData<SetupState>('/api/setup', LOOK_EVERY_MS);
  return (
    <ColumnView name="setup-view" title="Set up">
      <Show data={setup}>
        {(state) => (
          <>
            <p>
              Three steps, each of which can wait. The chat works already:{' '}
              <a href={hrefOf('chat')}>write to the agent</a>.
            </p>
            <ModelStep {...state} />
            <ChannelStep {...state} />
            <OwnerStep {...state} />
          </>
        )}
      </Show>
    </ColumnView>
  );
}

interface Provider {
  readonly name: string;
  readonly provider: 'openai-compatible' | 'openai' | 'anthropic';
  /** Fixed for a service; a default for a server of one's own. */
  readonly baseUrl?: string;
  /** What is needed, and where to get it. */
  readonly needs: string;
  readonly isOwn?: true;
}

const PROVIDERS: readonly Provider[] = [
  {
    name: 'Ollama',
    provider: 'openai-compatible',
    baseUrl: 'http://127.0.0.1:11434/v1',
    needs: 'Install it from ollama.com, then "ollama pull" a model. No key.',
    isOwn: true,
  },
  {
    name: 'LM Studio',
    provider: 'openai-compatible',
    baseUrl: 'http://127.0.0.1:1234/v1',
    needs: 'Load a model and start its server (Developer, Start Server). No key.',
    isOwn: true,
  },
  { name: 'OpenAI', provider: 'openai', needs: 'A key of platform.openai.com, under API keys.' },
  {
    name: 'Anthropic',
    provider: 'anthropic',
    needs: 'A key of console.anthropic.com, under API keys.',
  },
  {
    name: 'Gemini',
    provider: 'openai-compatible',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    needs: 'A key of aistudio.google.com, under Get API key.',
  },
  {
    name: 'OpenRouter',
    provider: 'openai-compatible',
    baseUrl: 'https://openrouter.ai/api/v1',
    needs: 'A key of openrouter.ai, under Keys.',
  },
  {
    name: 'DeepSeek',
    provider: 'openai-compatible',
    baseUrl: 'https://api.deepseek.com/v1',
    needs: 'A key of platform.deepseek.com, under API keys.',
  },
  {
    name: 'Mistral',
    provider: 'openai-compatible',
    baseUrl: 'https://api.mistral.ai/v1',
    needs: 'A key of console.mistral.ai, under API keys.',
  },
  {
    name: 'Another one',
    provider: 'openai-compatible',
    baseUrl: '',
    needs: 'The address of any server with the API of OpenAI, and a key where it wants one.',
    isOwn: true,
  },
];

/** Asks the gateway to try or to save something, and keeps what came of it. */
function useStep() {
  const [answer, setAnswer] = useState<SetupAnswer | undefined>();
  const [isBusy, setBusy] = useState(false);
  const { refresh } = useScope();
  const take = async (order: object): Promise<SetupAnswer | undefined> => {
    setBusy(true);
    const outcome = await ask<SetupAnswer>('/api/setup', order);
    setBusy(false);
    const found: SetupAnswer =
      outcome.kind === 'here'
        ? outcome.value
        : { kind: 'problem', reason: outcome.reason, fix: 'Try it again.', models: null };
    setAnswer(found);
    refresh();
    return found;
  };
  return { answer, isBusy, take };
}

function AnswerNote({ answer }: { readonly answer: SetupAnswer | undefined }): VNode {
  const isTrouble = answer?.kind === 'problem';
  return (
    <p class={isTrouble ? 'trouble' : 'outcome'} role="status" hidden={answer === undefined}>
      {isTrouble ? `${answer.reason} ${answer.fix}` : answer?.text}
    </p>
  );
}

interface StepProps {
  readonly title: string;
  /** What there is already; null: nothing. */
  readonly done: string | null;
  readonly children: ComponentChildren;
}

function Step({ title, done, children }: StepProps): VNode {
  return (
    <section class="card setup-step" aria-label={title}>
      <h3>{title}</h3>
      {done !== null && <p class="facts">{done}</p>}
      {children}
    </section>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly isSecret?: boolean;
  readonly options?: readonly string[];
}

function Field({ label, value, onInput, isSecret = false, options = [] }: FieldProps): VNode {
  const list = `${label.replaceAll(' ', '-')}-options`;
  return (
    <label class="hint">
      {label}
      <input
        class="field"
        type={isSecret ? 'password' : 'text'}
        autoComplete="off"
        value={value}
        list={options.length > 0 ? list : undefined}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {options.length > 0 && (
        <datalist id={list}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** The model: a server that was found, or a provider, whose key is tried before it is saved. */
function ModelStep({ model, isOffline, local }: SetupState): VNode {
  const [name, setName] = useState(PROVIDERS[0]?.name ?? '');
  const chosen = PROVIDERS.find((one) => one.name === name) ?? PROVIDERS[0];
  const [typed, setTyped] = useState({ baseUrl: '', apiKey: '', model: '' });
  const { answer, isBusy, take } = useStep();
  const type = (change: Partial<typeof typed>): void => setTyped({ ...typed, ...change });
  const baseUrl = typed.baseUrl || chosen?.baseUrl || '';
  const order = (isTry: boolean) => ({
    kind: 'model',
    isTry,
    model: {
      provider: chosen?.provider,
      ...(baseUrl !== '' && { baseUrl }),
      ...(typed.apiKey !== '' && { apiKey: typed.apiKey }),
      ...(typed.model !== '' && { model: typed.model }),
    },
  });
  const models = answer && answer.kind !== 'done' ? (answer.models ?? []) : [];
  return (
    <Step title="1. The model it thinks with" done={isOffline ? null : `In use: ${model}`}>
      {isOffline && local !== null && (
        <p>
          {local.model} was found at {local.baseUrl}; it is used by itself.
        </p>
      )}
      <label class="hint">
        Provider
        <select
          class="field"
          value={name}
          onChange={({ currentTarget }) => {
            setName(currentTarget.value);
            setTyped({ baseUrl: '', apiKey: '', model: '' });
          }}
        >
          {PROVIDERS.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </select>
      </label>
      <p class="facts">{chosen?.needs}</p>
      {chosen?.isOwn && (
        <Field label="Address" value={baseUrl} onInput={(value) => type({ baseUrl: value })} />
      )}
      {(!chosen?.isOwn || chosen.name === 'Another one') && (
        <Field
          label="Key"
          value={typed.apiKey}
          isSecret
          onInput={(value) => type({ apiKey: value })}
        />
      )}
      <Field
        label="Model"
        value={typed.model}
        options={models}
        onInput={(value) => type({ model: value })}
      />
      {models.length > 0 && (
        <p class="facts">
          It offers {models.slice(0, 8).join(', ')}
          {models.length > 8 ? ` and ${models.length - 8} more` : ''}.
        </p>
      )}
      <AnswerNote answer={answer} />
      <div class="actions">
        <ActionButton label="Try it" isBusy={isBusy} onPress={() => void take(order(true))} />
        <ActionButton
          label="Use this model"
          look="is-main"
          isBusy={isBusy || typed.model === ''}
          onPress={() => void take(order(false))}
        />
      </div>
    </Step>
  );
}

const CHANNELS = {
  telegram: {
    name: 'Telegram',
    needs:
      'Write to @BotFather in Telegram, send /newbot, and copy the token that it answers with.',
  },
  discord: {
    name: 'Discord',
    needs:
      'Open discord.com/developers/applications, make an application, and under Bot press Reset Token and switch the Message Content Intent on. Invite it under OAuth2, URL Generator: scope bot, permission Send Messages.',
  },
  whatsapp: {
    name: 'WhatsApp',
    needs: 'The phone of the account that the bot is to have: it scans a code that is shown here.',
  },
} as const;

type ChannelId = keyof typeof CHANNELS;
const CHANNEL_IDS: readonly ChannelId[] = ['telegram', 'discord', 'whatsapp'];

/** A channel: its token is tried, and the bot’s name shown, before it is saved. */
function ChannelStep({ channels }: SetupState): VNode {
  const [channel, setChannel] = useState<ChannelId>('telegram');
  const [token, setToken] = useState('');
  const { answer, isBusy, take } = useStep();
  const order = (isTry: boolean) => ({
    kind: 'channel',
    isTry,
    channel,
    ...(token !== '' && { token }),
  });
  const hasToken = channel !== 'whatsapp';
  const names = [...new Set(channels)].join(', ');
  return (
    <Step title="2. Where people write to it" done={names === '' ? null : `Configured: ${names}`}>
      <label class="hint">
        Channel
        <select
          class="field"
          value={channel}
          onChange={({ currentTarget: { value } }) => {
            setChannel(CHANNEL_IDS.find((id) => id === value) ?? channel);
            setToken('');
          }}
        >
          {CHANNEL_IDS.map((id) => (
            <option key={id} value={id}>
              {CHANNELS[id].name}
            </option>
          ))}
        </select>
      </label>
      <p class="facts">{CHANNELS[channel].needs}</p>
      {hasToken && <Field label="Token" value={token} isSecret onInput={setToken} />}
      <AnswerNote answer={answer} />
      <div class="actions">
        {hasToken && (
          <ActionButton
            label="Try the token"
            isBusy={isBusy || token === ''}
            onPress={() => void take(order(true))}
          />
        )}
        <ActionButton
          label="Connect"
          look="is-main"
          isBusy={isBusy || (hasToken && token === '')}
          onPress={() => void take(order(false))}
        />
      </div>
    </Step>
  );
}

/** Who owns it: whoever has written to the bot presses one button. */
function OwnerStep({ owners, waiting }: SetupState): VNode {
  const { answer, isBusy, take } = useStep();
  const done = owners.length === 0 ? null : `Owners: ${owners.join(', ')}`;
  return (
    <Step title="3. You" done={done}>
      <p>
        Write anything to your bot from your own account. You appear here within seconds; press
        &ldquo;That is me&rdquo;, and it obeys you. Make sure that it is you: an owner may do
        everything.
      </p>
      <List look="cards" of={waiting}>
        {({ person, name, channel }) => (
          <div key={person} class="actions">
            <span>
              {name} on {channel} ({person})
            </span>
            <ActionButton
              label="That is me"
              name={`${name} on ${channel}: that is me`}
              isBusy={isBusy}
              onPress={() => void take({ kind: 'owner', person })}
            />
          </div>
        )}
      </List>
      <AnswerNote answer={answer} />
    </Step>
  );
}
