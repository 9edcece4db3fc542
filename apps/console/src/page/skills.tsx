import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { runOperation } from './gateway.ts';
import { toHref } from './route.ts';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { formatAmount, formatCounted } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import {
  ActionButton,
  DataContent,
  List,
  OutcomeNote,
  OutsideText,
  Section,
} from './ui/widgets.tsx';

type ListedSkill = OutputOf<'skills/list'>['skills'][number];

/**
 * How often (ms) the page refreshes, because programs and files may appear and changed settings
 * take a moment to apply.
 */
const POLL_INTERVAL_MS = 10_000;
const LOOK_SOON_MS = 1_000;

const STATES: Readonly<Record<string, string>> = {
  ready: 'Ready',
  'left-out': 'The list is full',
  'not-eligible': 'Lacks something',
  'not-allowed': 'Off',
  blocked: 'Off',
  shadowed: 'Replaced',
  refused: 'Refused',
};

/**
 * All skills found, with their sources, whether they are used, and the reason if they are not
 * (S09).
 */
export function SkillsView(): VNode {
  const { outcome, run } = useActionRunner();
  const everyMs = outcome === undefined ? POLL_INTERVAL_MS : LOOK_SOON_MS;
  const data = useOperation('skills/list', {}, everyMs);
  return (
    <ColumnView name="skills-view" title="Skills">
      <OutcomeNote outcome={outcome} />
      <DataContent data={data}>
        {({ skills }) => {
          const ready = skills.filter(({ state }) => state === 'ready');
          const tokens = ready.reduce((sum, one) => sum + one.tokens, 0);
          return (
            <>
              <p class="facts">
                {formatAmount(ready.length)} of {formatCounted(skills.length, 'skill')} ready. The
                list takes about {formatAmount(tokens)} tokens of each prompt. Changes reach a
                conversation after /new.
              </p>
              <SkillGroup title="Ready" skills={ready} run={run} />
              <SkillGroup
                title="Not used"
                skills={skills.filter(({ state }) => state !== 'ready')}
                run={run}
              />
            </>
          );
        }}
      </DataContent>
    </ColumnView>
  );
}

interface GroupProps {
  readonly title: string;
  readonly skills: readonly ListedSkill[];
  readonly run: ActionRunner['run'];
}

function SkillGroup({ title, skills, run }: GroupProps): VNode | null {
  if (skills.length === 0) return null;
  return (
    <Section title={title}>
      <List look="cards" of={skills}>
        {(skill) => <SkillCard key={`${skill.source} ${skill.location}`} skill={skill} run={run} />}
      </List>
    </Section>
  );
}

interface SkillProps {
  readonly skill: ListedSkill;
  readonly run: ActionRunner['run'];
}

/**
 * The name, description and text of a skill were written by its author, so they are shown as plain
 * text.
 */
function SkillCard({ skill, run }: SkillProps): VNode {
  const { name, emoji, description, state, reason, install, warnings, file, isOn } = skill;
  const turn = () => runOperation('skills/turn', { name, isOn: !isOn }, ({ text }) => text);
  const label = isOn ? 'Turn off' : 'Turn on';
  return (
    <article class="card" aria-label={name}>
      <header>
        <h4>
          {name} {emoji}
        </h4>
        <span class={`tone facts is-${state}`}>{STATES[state] ?? state}</span>
      </header>
      {reason !== null && <p>{reason}</p>}
      {warnings.map((warning) => (
        <p key={warning}>Guessed: {warning}</p>
      ))}
      {install.map((step) => (
        <p class="facts" key={step}>
          To install: {step}
        </p>
      ))}
      <OutsideText>{description}</OutsideText>
      <p class="facts">{describeSkill(skill)}</p>
      {state !== 'refused' && <SkillText name={name} />}
      <p class="actions">
        {isOn !== null && (
          <ActionButton
            label={label}
            name={`${label}: ${name}`}
            look={isOn ? '' : 'is-main'}
            onPress={() => run(turn)}
          />
        )}
        {file !== null && <a href={toHref('files', file)}>Edit the file</a>}
      </p>
    </article>
  );
}

function describeSkill({
  source,
  location,
  readers,
  command,
  forModel,
  ...skill
}: ListedSkill): string {
  return [
    `${source}, ${location}`,
    readers === 'owner' ? 'only for the owner' : null,
    command === null ? skill.commandProblem : `/${command}`,
    forModel ? null : 'not shown to the model',
  ]
    .filter((fact) => fact !== null)
    .join('; ');
}

/** The text of a skill, loaded when the skill is opened. */
function SkillText({ name }: { readonly name: string }): VNode {
  const [isOpen, setOpen] = useState(false);
  const data = useOperation('skills/show', isOpen ? { name } : null);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Text</summary>
      {isOpen && (
        <DataContent data={data}>
          {({ text, reason }) => (
            <OutsideText as="pre" look="layer-text">
              {text ?? reason ?? 'The skill cannot be read.'}
            </OutsideText>
          )}
        </DataContent>
      )}
    </details>
  );
}
