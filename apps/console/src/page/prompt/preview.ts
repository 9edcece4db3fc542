import type { SentPrompt } from '@parley/core';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useAnswer } from '../gateway.ts';
import { amount } from '../ui/format.ts';
import { p, shown } from '../ui/widgets.ts';
import { PromptLayers, tokensOf } from './layers.ts';

/** A hypothetical message. The gateway chooses for empty fields. */
interface Preview {
  readonly channel: string;
  readonly chat: string;
  readonly user: string;
  readonly text: string;
  readonly mode: string;
  readonly heartbeat: string;
}

const FIRST: Preview = {
  channel: 'web',
  chat: 'direct',
  user: '',
  text: '',
  mode: 'full',
  heartbeat: '',
};

const CHOICES = {
  channel: ['web', 'terminal', 'discord', 'telegram', 'whatsapp'],
  chat: ['direct', 'group', 'channel', 'thread'],
  mode: ['full', 'minimal', 'none'],
} as const;

/** The prompt of a hypothetical turn: the model is not called, and nothing is stored (P17). */
export function PreviewSheet(): VNode {
  const [preview, setPreview] = useState(FIRST);
  const [asked, setAsked] = useState(FIRST);
  const answer = useAnswer<SentPrompt>(pathOf(asked));
  const change = (part: Partial<Preview>, isFinal: boolean): void => {
    const next = { ...preview, ...part };
    setPreview(next);
    if (isFinal) setAsked(next);
  };
  return h(
    'div',
    null,
    h(
      'header',
      { class: 'entry-head' },
      h('h2', { class: 'title' }, 'Preview'),
      h('p', null, 'The first turn of a new session. The model is not called; nothing is stored.'),
    ),
    h(PreviewForm, { preview, change, submit: () => setAsked(preview) }),
    shown(answer, ({ layout, parts, unsent }) =>
      h(
        'div',
        null,
        p('lead', `${amount(tokensOf(parts))} tokens · layout ${layout}`),
        h(PromptLayers, { parts, unsent }),
      ),
    ),
  );
}

interface PreviewFormProps {
  readonly preview: Preview;
  /** `isFinal`: the prompt is built again at once. */
  readonly change: (part: Partial<Preview>, isFinal: boolean) => void;
  readonly submit: () => void;
}

function PreviewForm({ preview, change, submit }: PreviewFormProps): VNode {
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    submit();
  };
  const text = (name: 'user' | 'text', label: string, placeholder: string): VNode =>
    h(
      'label',
      { class: `hint is-${name}` },
      label,
      h('input', {
        class: 'field',
        value: preview[name],
        placeholder,
        onInput: ({ currentTarget }: Event) => change({ [name]: valueIn(currentTarget) }, false),
      }),
    );
  const choice = (name: keyof typeof CHOICES, label: string): VNode =>
    h(
      'label',
      { class: 'hint' },
      label,
      h(
        'select',
        {
          class: 'field',
          value: preview[name],
          onChange: ({ currentTarget }: Event) => change({ [name]: valueIn(currentTarget) }, true),
        },
        CHOICES[name].map((value) => h('option', { key: value, value }, value)),
      ),
    );
  return h(
    'form',
    { class: 'preview', onSubmit },
    choice('channel', 'Channel'),
    choice('chat', 'Chat'),
    text('user', 'Person', 'id of the sender'),
    choice('mode', 'Mode'),
    text('text', 'Text', 'Hello'),
    h(
      'label',
      { class: 'is-check' },
      h('input', {
        type: 'checkbox',
        checked: preview.heartbeat === '1',
        onChange: () => change({ heartbeat: preview.heartbeat === '1' ? '' : '1' }, true),
      }),
      'Heartbeat',
    ),
    h('button', { type: 'submit', class: 'quiet' }, 'Show'),
  );
}

function valueIn(element: EventTarget | null): string {
  if (element instanceof HTMLInputElement || element instanceof HTMLSelectElement)
    return element.value;
  return '';
}

function pathOf(preview: Preview): string {
  const given = Object.entries(preview).filter(([, value]) => value !== '');
  return `/api/prompts/preview?${new URLSearchParams(given)}`;
}
