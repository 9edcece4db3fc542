import { h, type VNode } from 'preact';
import type { Stage } from './read-why.ts';

interface StageListProps {
  readonly stages: readonly Stage[];
  /** When the message was received: all times are told from there. In ms. */
  readonly since: number;
}

/** The stages of a message, oldest first. */
export function StageList({ stages, since }: StageListProps): VNode {
  return h(
    'ol',
    { class: 'why-stages' },
    stages.map((stage, nth) =>
      h(
        'li',
        { key: nth, class: stage.isMarked ? 'is-marked' : '' },
        h('span', { class: 'why-time', title: exact(stage.at) }, offset(stage, since)),
        h('b', null, stage.stage),
        h(
          'span',
          { class: 'why-words' },
          stage.words,
          stage.ms !== null && h('i', null, span(stage.ms)),
          stage.detail !== '' && h('small', null, stage.detail),
        ),
      ),
    ),
  );
}

function exact(at: number | null): string {
  return at === null ? '' : new Date(at).toLocaleString();
}

function offset({ at }: Stage, since: number): string {
  if (at === null) return '';
  return at < since ? `−${span(since - at)}` : `+${span(at - since)}`;
}

/** `5 ms`, `0.4 s`, `12 s`, `3 min`, `5 h`. */
function span(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 100_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = ms / 60_000;
  return minutes < 100 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
}
