import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { hrefOf } from '../route.ts';
import { amount } from '../ui/amount.ts';
import { Icon } from '../ui/icons.ts';
import { PromptLayers } from './prompt-sheet.ts';
import { readBody } from './read-prompt.ts';
import { useAnswer } from './use-answer.ts';

/** Who would write where. Empty fields are left to the gateway. */
interface Trial {
  readonly channel: string;
  readonly chat: string;
  readonly user: string;
  readonly text: string;
  readonly mode: string;
  readonly heartbeat: string;
}

const FIRST: Trial = {
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

/** The prompt of a turn that might be: nothing is asked of the model, and nothing is kept (P17). */
export function TrialView(): VNode {
  const [trial, setTrial] = useState(FIRST);
  const [asked, setAsked] = useState(FIRST);
  const answer = useAnswer(pathOf(asked), readBody);
  const change = (part: Partial<Trial>, isFinal: boolean): void => {
    const next = { ...trial, ...part };
    setTrial(next);
    if (isFinal) setAsked(next);
  };
  return h(
    'article',
    { class: 'turn' },
    h(
      'a',
      { class: 'back', href: hrefOf({ view: 'prompt', turn: null, against: null }) },
      h(Icon, { name: 'back' }),
      'All turns',
    ),
    h(
      'header',
      { class: 'turn-title' },
      h('h2', null, 'A turn that might be'),
      h('p', null, 'The first of a new session. The model is not asked, and nothing is kept.'),
    ),
    h(TrialForm, { trial, change, submit: () => setAsked(trial) }),
    answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
    answer.kind === 'here' &&
      h(
        'p',
        { class: 'trial-size' },
        `${amount(answer.value.tokens)} tokens · layout ${answer.value.layout}`,
      ),
    answer.kind === 'here' && h(PromptLayers, answer.value),
  );
}

interface TrialFormProps {
  readonly trial: Trial;
  /** `isFinal`: the prompt is made anew at once. */
  readonly change: (part: Partial<Trial>, isFinal: boolean) => void;
  readonly submit: () => void;
}

function TrialForm({ trial, change, submit }: TrialFormProps): VNode {
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    submit();
  };
  const text = (name: 'user' | 'text', label: string, placeholder: string): VNode =>
    h(
      'label',
      { class: `is-${name}` },
      label,
      h('input', {
        value: trial[name],
        placeholder,
        onInput: ({ currentTarget }: Event) => change({ [name]: valueIn(currentTarget) }, false),
      }),
    );
  const choice = (name: keyof typeof CHOICES, label: string): VNode =>
    h(
      'label',
      null,
      label,
      h(
        'select',
        {
          value: trial[name],
          onChange: ({ currentTarget }: Event) => change({ [name]: valueIn(currentTarget) }, true),
        },
        CHOICES[name].map((value) => h('option', { key: value, value }, value)),
      ),
    );
  return h(
    'form',
    { class: 'trial', onSubmit },
    choice('channel', 'Channel'),
    choice('chat', 'Chat'),
    text('user', 'Person', 'the id of who writes'),
    choice('mode', 'Mode'),
    text('text', 'Words', 'Hello'),
    h(
      'label',
      { class: 'is-check' },
      h('input', {
        type: 'checkbox',
        checked: trial.heartbeat === '1',
        onChange: () => change({ heartbeat: trial.heartbeat === '1' ? '' : '1' }, true),
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

function pathOf(trial: Trial): string {
  const given = Object.entries(trial).filter(([, value]) => value !== '');
  return `/api/prompts/preview?${new URLSearchParams(given)}`;
}
