import type { PromptComparison } from '@parley/prompt';
import type { PromptSummary, StoredPrompt } from '@parley/store';
import { h, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ask, useAnswer } from '../gateway.ts';
import { hrefOf, type Route } from '../route.ts';
import { amount, dayOf, momentOf, timeOf } from '../ui/format.ts';
import { EntryLink, listOf, p, SplitView, shown, Trouble } from '../ui/widgets.ts';
import { ComparisonView } from './comparison.ts';
import { PromptLayers } from './layers.ts';
import { PreviewSheet } from './preview.ts';

interface PromptViewProps {
  readonly route: Extract<Route, { view: 'prompt' | 'preview' }>;
}

/** What the model got, turn by turn (P17). Every text is shown as text, never as HTML. */
export function PromptView({ route }: PromptViewProps): VNode {
  const { turns, failure, isLoaded, onMore, onRefresh } = useTurns();
  const isPreview = route.view === 'preview';
  const chosen = isPreview ? null : (route.turn ?? turns[0]?.turnId ?? null);
  return h(SplitView, {
    name: 'prompts',
    title: 'Prompts',
    label: 'Turns',
    refresh: onRefresh,
    showsList: !isPreview && route.turn === null,
    list: [
      h(
        'a',
        {
          class: 'preview-link',
          href: hrefOf({ view: 'preview' }),
          'aria-current': isPreview ? 'true' : undefined,
        },
        'Preview…',
      ),
      h(Trouble, { reason: failure }),
      isLoaded && failure === null && turns.length === 0 && p('nothing', NONE),
      h(TurnList, { turns, chosen, onMore }),
    ],
    back: hrefOf({ view: 'prompt', turn: null, against: null }),
    sheet: isPreview
      ? h(PreviewSheet, null)
      : chosen !== null && h(Turn, { key: chosen, turnId: chosen, against: route.against, turns }),
  });
}

const NONE =
  'Nothing is recorded yet. Write to the agent, and the prompt of that turn appears here.';

/** The recorded turns as far as they were asked for. */
interface Turns {
  readonly turns: readonly PromptSummary[];
  readonly failure: string | null;
  readonly isLoaded: boolean;
}

/** A page of `/api/prompts`; `next` asks for the one after it. */
interface TurnPage {
  readonly prompts: readonly PromptSummary[];
  readonly next: string | null;
}

/** Asks for the turns when the view opens, when the window gets the focus again, and on request. */
function useTurns() {
  const [state, setState] = useState<Turns & { readonly next: string | null }>({
    turns: [],
    failure: null,
    isLoaded: false,
    next: null,
  });
  const load = async (before: string | null): Promise<void> => {
    const query = before === null ? '' : `?before=${encodeURIComponent(before)}`;
    const answer = await ask<TurnPage>(`/api/prompts${query}`);
    setState((old) => {
      if (answer.kind === 'failed') return { ...old, failure: answer.reason, isLoaded: true };
      const { prompts, next } = answer.value;
      const turns = before === null ? prompts : [...old.turns, ...prompts];
      return { turns, next, failure: null, isLoaded: true };
    });
  };
  const onRefresh = (): void => void load(null);
  useEffect(() => {
    onRefresh();
    addEventListener('focus', onRefresh);
    return () => removeEventListener('focus', onRefresh);
  }, []);
  const { next } = state;
  return { ...state, onRefresh, onMore: next === null ? null : () => void load(next) };
}

interface TurnListProps {
  readonly turns: readonly PromptSummary[];
  readonly chosen: string | null;
  /** Null: there are no more. */
  readonly onMore: (() => void) | null;
}

/** The recorded turns, newest first, under the day they ran. */
function TurnList({ turns, chosen, onMore }: TurnListProps): VNode {
  return h(
    'div',
    { class: 'entry-list' },
    daysOf(turns).map(({ day, entries }) =>
      h(
        'section',
        { key: day, 'aria-label': day },
        h('h3', { class: 'hint' }, day),
        listOf('', entries, (turn) =>
          h(TurnLink, { key: turn.turnId, turn, isChosen: turn.turnId === chosen }),
        ),
      ),
    ),
    onMore && h('button', { type: 'button', class: 'quiet', onClick: onMore }, 'Older turns'),
  );
}

function TurnLink({ turn, isChosen }: { turn: PromptSummary; isChosen: boolean }): VNode {
  const { turnId, at, layout, tokens, place } = turn;
  return h(
    EntryLink,
    {
      href: hrefOf({ view: 'prompt', turn: turnId, against: null }),
      title: chatName(turn),
      at,
      time: timeOf(at),
      facts: `${place.channel} · ${layout}`,
      isChosen,
    },
    `${amount(tokens)} tokens`,
  );
}

/** The title of a group, else the sender. */
function chatName({ place: { title, personName, chatType } }: PromptSummary): string {
  const name = title ?? personName;
  return chatType === 'direct' ? name : `${name} · ${chatType}`;
}

function daysOf(turns: readonly PromptSummary[]) {
  const days: { day: string; entries: PromptSummary[] }[] = [];
  for (const turn of turns) {
    const day = dayOf(turn.at, Date.now());
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(turn);
    else days.push({ day, entries: [turn] });
  }
  return days;
}

interface TurnProps {
  readonly turnId: string;
  readonly against: string | null;
  readonly turns: readonly PromptSummary[];
}

function Turn({ turnId, against, turns }: TurnProps): VNode {
  const answer = useAnswer<StoredPrompt>(`/api/prompts/${encodeURIComponent(turnId)}`);
  const turn = answer.kind === 'here' ? answer.value : null;
  return h(
    'div',
    null,
    turn && h(TurnHead, { turn }),
    turn && h(CompareChoice, { turn, turns, against }),
    against === null
      ? shown(answer, (prompt) => h(PromptSheet, { prompt }))
      : h(Compared, { turnId, against }),
  );
}

function Compared({
  turnId,
  against,
}: Omit<TurnProps, 'turns'> & { against: string }): VNode | null {
  const [before, after] = [against, turnId].map(encodeURIComponent);
  const answer = useAnswer<PromptComparison>(`/api/prompts/${before}/compare/${after}`);
  return shown(answer, (comparison) => h(ComparisonView, { comparison }));
}

function TurnHead({ turn }: { readonly turn: PromptSummary }): VNode {
  const { at, place, layout, model, tokens, characters } = turn;
  const { personName, personId, channel, account } = place;
  return h(
    'header',
    { class: 'entry-head' },
    h('h2', { class: 'title' }, chatName(turn)),
    h('p', null, `${momentOf(at)} · ${personName} (${personId}) · ${channel}/${account}`),
    h(
      'p',
      null,
      h('b', null, `${amount(tokens)} tokens`),
      ` in ${amount(characters)} characters · layout ${layout} · ${model}`,
    ),
    p('entry-id', turn.turnId),
  );
}

/** Everything that one turn sent to its model. */
function PromptSheet({ prompt }: { readonly prompt: StoredPrompt }): VNode {
  const { parts, unsent, tools, messages } = prompt;
  return h(
    'div',
    { class: 'sheet' },
    h(PromptLayers, { parts, unsent }),
    h(
      'dl',
      { class: 'facts beside' },
      h('dt', null, 'Tools it could call'),
      h('dd', null, tools.length === 0 ? 'none' : tools.join(', ')),
      h('dt', null, 'Messages sent with it'),
      h(
        'dd',
        null,
        messages.map(({ role, characters }) => `${role} ${amount(characters)}`).join(' · '),
        ' (characters)',
      ),
    ),
  );
}

interface CompareChoiceProps extends Omit<TurnProps, 'turnId'> {
  readonly turn: PromptSummary;
}

/** Chooses an earlier turn to compare with; turns of the same chat come first. */
function CompareChoice({ turn, turns, against }: CompareChoiceProps): VNode | null {
  const others = turns.filter(({ turnId }) => turnId !== turn.turnId);
  if (others.length === 0 && against === null) return null;
  const isHere = (other: PromptSummary): boolean => other.conversationId === turn.conversationId;
  const onChange = ({ currentTarget }: Event): void => {
    if (!(currentTarget instanceof HTMLSelectElement)) return;
    const next = currentTarget.value || null;
    location.hash = hrefOf({ view: 'prompt', turn: turn.turnId, against: next });
  };
  const option = (other: PromptSummary): VNode => {
    const { turnId, at, tokens } = other;
    const label = `${momentOf(at)} · ${chatName(other)} · ${amount(tokens)} tokens`;
    return h('option', { key: turnId, value: turnId }, label);
  };
  const isListed = against === null || others.some(({ turnId }) => turnId === against);
  return h(
    'label',
    { class: 'compare-choice' },
    h('span', null, 'Compare with'),
    h(
      'select',
      { class: 'field', value: against ?? '', onChange },
      h('option', { value: '' }, 'nothing'),
      !isListed && h('option', { value: against }, against),
      h('optgroup', { label: 'This chat' }, others.filter(isHere).map(option)),
      h('optgroup', { label: 'Other chats' }, others.filter((other) => !isHere(other)).map(option)),
    ),
  );
}
