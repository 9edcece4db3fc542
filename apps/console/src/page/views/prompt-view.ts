import { h, type VNode } from 'preact';
import { CompareChoice } from '../prompt/compare-choice.ts';
import { ComparisonView } from '../prompt/comparison-view.ts';
import { SheetView, TurnTitle } from '../prompt/prompt-sheet.ts';
import { readComparison } from '../prompt/read-comparison.ts';
import { readSheet, type TurnEntry } from '../prompt/read-prompt.ts';
import { TrialView } from '../prompt/trial-view.ts';
import { TurnList } from '../prompt/turn-list.ts';
import { type Answer, useAnswer } from '../prompt/use-answer.ts';
import { useTurns } from '../prompt/use-turns.ts';
import { hrefOf, type Route } from '../route.ts';
import { Icon } from '../ui/icons.ts';

interface PromptViewProps {
  readonly route: Extract<Route, { view: 'prompt' | 'trial' }>;
}

/** What the model was told, turn by turn (P17). Every text is shown as text, never as HTML. */
export function PromptView({ route }: PromptViewProps): VNode {
  const { turns, failure, loaded, more, again } = useTurns();
  const isTrial = route.view === 'trial';
  const chosen = isTrial ? null : (route.turn ?? turns[0]?.turnId ?? null);
  const isList = !isTrial && route.turn === null;
  return h(
    'main',
    { class: `prompt-view ${isList ? 'shows-list' : 'shows-turn'}` },
    h(
      'nav',
      { class: 'turns', 'aria-label': 'Turns' },
      h(
        'div',
        { class: 'turns-head' },
        h('h2', null, 'Prompts'),
        h(
          'button',
          { type: 'button', class: 'quiet', onClick: again, title: 'Look for newer turns' },
          h(Icon, { name: 'again' }),
          'Refresh',
        ),
      ),
      h(
        'a',
        {
          class: 'trial-link',
          href: hrefOf({ view: 'trial' }),
          'aria-current': isTrial ? 'true' : undefined,
        },
        'A turn that might be…',
      ),
      failure !== null && h('p', { class: 'trouble', role: 'alert' }, failure),
      loaded && failure === null && turns.length === 0 && h(Nothing, null),
      h(TurnList, { turns, chosen, onMore: more }),
    ),
    isTrial && h(TrialView, null),
    !isTrial &&
      chosen !== null &&
      h(Turn, { key: chosen, turnId: chosen, against: route.against, turns }),
  );
}

interface TurnProps {
  readonly turnId: string;
  readonly against: string | null;
  readonly turns: readonly TurnEntry[];
}

function Turn({ turnId, against, turns }: TurnProps): VNode {
  const path = `/api/prompts/${encodeURIComponent(turnId)}`;
  const sheet = useAnswer(path, readSheet);
  return h(
    'article',
    { class: 'turn', tabIndex: -1 },
    h(
      'a',
      { class: 'back', href: hrefOf({ view: 'prompt', turn: null, against: null }) },
      h(Icon, { name: 'back' }),
      'All turns',
    ),
    sheet.kind === 'here' && h(TurnTitle, { turn: sheet.value.turn }),
    sheet.kind === 'here' && h(CompareChoice, { turn: sheet.value.turn, turns, against }),
    against === null
      ? shown(sheet, (value) => h(SheetView, { sheet: value }))
      : h(Compared, { turnId, against }),
  );
}

function Compared({ turnId, against }: Omit<TurnProps, 'turns'> & { against: string }): VNode {
  const [before, after] = [against, turnId].map(encodeURIComponent);
  const comparison = useAnswer(`/api/prompts/${before}/compare/${after}`, readComparison);
  return shown(comparison, (value) => h(ComparisonView, { comparison: value }));
}

function shown<Value>(answer: Answer<Value>, show: (value: Value) => VNode): VNode {
  if (answer.kind === 'here') return show(answer.value);
  if (answer.kind === 'failed') return h('p', { class: 'trouble', role: 'alert' }, answer.reason);
  return h('p', { class: 'layer-foot', role: 'status' }, 'Looking…');
}

function Nothing(): VNode {
  return h(
    'p',
    { class: 'nothing' },
    'Nothing has been recorded yet. Write to the agent, and the prompt of that turn appears here.',
  );
}
