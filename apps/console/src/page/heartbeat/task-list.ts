import { h, type VNode } from 'preact';
import type { Task } from './read-heartbeat.ts';

interface TaskListProps {
  readonly tasks: readonly Task[];
  /** A wish is on its way; the buttons wait. */
  readonly isBusy: boolean;
  readonly onRun: (task: string) => void;
}

/** The standing tasks, in the order of the file. Every text is shown as text. */
export function TaskList({ tasks, isBusy, onRun }: TaskListProps): VNode {
  return h(
    'ul',
    { class: 'beat-tasks' },
    tasks.map((task) =>
      h('li', { key: task.name, class: 'beat-task' }, h(TaskCard, { task, isBusy, onRun })),
    ),
  );
}

interface TaskCardProps extends Omit<TaskListProps, 'tasks'> {
  readonly task: Task;
}

function TaskCard({ task, isBusy, onRun }: TaskCardProps): VNode {
  const { name, schedule, instruction, tell, last, next } = task;
  const isRunning = last.state === 'running';
  return h(
    'article',
    { 'aria-label': name },
    h(
      'header',
      null,
      h('h4', null, name),
      h('p', null, tell === '' ? schedule : `${schedule}, tells ${tell}`),
      h(
        'button',
        {
          type: 'button',
          class: 'beat-run',
          'aria-label': `Run ${name} now`,
          disabled: isBusy || isRunning,
          onClick: () => onRun(name),
        },
        isRunning ? 'Running…' : 'Run now',
      ),
    ),
    h('p', { class: 'beat-instruction', dir: 'auto' }, instruction),
    h(
      'dl',
      null,
      h('div', null, h('dt', null, 'Last'), h('dd', { class: `is-${last.state}` }, last.words)),
      h('div', null, h('dt', null, 'Next'), h('dd', { class: `is-${next.state}` }, next.words)),
    ),
  );
}
