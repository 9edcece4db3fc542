import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useOperation } from '../ui/data.tsx';
import { formatAmount } from '../ui/format.ts';
import { DataContent } from '../ui/widgets.tsx';
import { PromptLayers } from './layers.tsx';

/** A hypothetical message. The gateway chooses values for empty fields. */
const FIRST = { channel: 'web', chat: 'direct', user: '', text: '', mode: 'full', heartbeat: '' };
type Preview = Readonly<typeof FIRST>;

const CHOICES = {
  channel: ['web', 'terminal', 'discord', 'telegram', 'whatsapp'],
  chat: ['direct', 'group', 'channel', 'thread'],
  mode: ['full', 'light', 'minimal', 'none'],
} as const;

/** The prompt of a hypothetical turn, built without calling the model or storing anything (P17). */
export function PreviewSheet(): VNode {
  const [preview, setPreview] = useState(FIRST);
  const [asked, setAsked] = useState(FIRST);
  const data = useOperation('prompts/preview', removeEmptyFields(asked));
  const change = (part: Partial<Preview>, isFinal: boolean): void => {
    const next = { ...preview, ...part };
    setPreview(next);
    if (isFinal) setAsked(next);
  };
  return (
    <>
      <header class="entry-head">
        <h2 class="title">Preview</h2>
        <p>
          The request for the first turn of a new session, or for the next heartbeat run. In
          “minimal” mode, it is a sub-agent's request with the text as its task. The model is not
          called, and nothing is stored.
        </p>
      </header>
      <PreviewForm preview={preview} change={change} submit={() => setAsked(preview)} />
      <DataContent data={data}>
        {(request) => (
          <>
            <p class="lead">
              {formatAmount(request.tokens)} tokens · layout {request.layout}
            </p>
            <PromptLayers request={request} />
          </>
        )}
      </DataContent>
    </>
  );
}

interface PreviewFormProps {
  readonly preview: Preview;
  /** Changes the message; with `isFinal`, the prompt is rebuilt immediately. */
  readonly change: (part: Partial<Preview>, isFinal: boolean) => void;
  readonly submit: () => void;
}

function PreviewForm({ preview, change, submit }: PreviewFormProps): VNode {
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    submit();
  };
  const text = (name: 'user' | 'text', label: string, placeholder: string): VNode => (
    <label class="hint">
      {label}
      <input
        class="field"
        value={preview[name]}
        placeholder={placeholder}
        onInput={({ currentTarget }) => change({ [name]: currentTarget.value }, false)}
      />
    </label>
  );
  const served = useOperation('channels/report', {}).value?.accounts ?? [];
  const channels = new Set([...CHOICES.channel, ...served.map(({ channel }) => channel)]);
  const choices = { ...CHOICES, channel: [...channels] };
  const choice = (name: keyof typeof CHOICES, label: string): VNode => (
    <label class="hint">
      {label}
      <select
        class="field"
        value={preview[name]}
        // A heartbeat run has its own mode.
        disabled={name === 'mode' && preview.heartbeat === '1'}
        onChange={({ currentTarget }) => change({ [name]: currentTarget.value }, true)}
      >
        {choices[name].map((value) => (
          <option key={value}>{value}</option>
        ))}
      </select>
    </label>
  );
  return (
    <form class="row preview" onSubmit={onSubmit}>
      {choice('channel', 'Channel')}
      {choice('chat', 'Chat')}
      {text('user', 'Person', 'sender id')}
      {choice('mode', 'Mode')}
      {text('text', 'Text', 'Hello')}
      <label class="row">
        <input
          type="checkbox"
          checked={preview.heartbeat === '1'}
          onChange={() => change({ heartbeat: preview.heartbeat === '1' ? '' : '1' }, true)}
        />
        Heartbeat
      </label>
      <button type="submit" class="action">
        Show
      </button>
    </form>
  );
}

function removeEmptyFields(preview: Preview): Partial<Preview> {
  return Object.fromEntries(Object.entries(preview).filter(([, value]) => value !== ''));
}
