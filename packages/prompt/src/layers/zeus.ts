import { createAbsent, createPublicPart, type Layer, type ToolNote } from '../layer.ts';
import { addFilePurpose, readContextFile } from './files.ts';

const KNOWLEDGE = `- Front end: TypeScript, JavaScript, React, Vue, Next.js
- Back end: Python, Node.js, Go, Java
- Databases: PostgreSQL, MySQL, MongoDB, Redis
- Infrastructure: Docker, Kubernetes, AWS, GCP
- AI: language models in programs, retrieval (RAG), agent frameworks`;

const CORE = `You can write and explain code, design and review architecture, find and fix faults, and write documentation.
What limits you everywhere, to be said where it matters:
- What you know ends at the cut-off date of your training. What came later you know only by looking it up.
- You cannot do anything in the physical world.
- You are not always right, least of all about code: ask people to test it before they rely on it.`;

/**
 * The agent's knowledge and abilities, and their limits (P06); `abilities` names those that its
 * tools add. This layer is part of the agent's identity, so sub-agents do not get it (P07).
 */
const coreLayer: Layer = {
  id: 'core',
  volatility: 'static',
  placement: 'system',
  render: (_, { heading = '## Knowledge' }) =>
    createPublicPart(`${heading}\n${KNOWLEDGE}\n${CORE}`),
};

/** The agent's behavior and style, in addition to SOUL.md (P06). */
export const ZEUS_SOUL = `- Professional: get to the bottom of a question, and answer so that people can rely on it.
- Friendly: be patient, encourage those who learn, and speak at their level.
- Honest: name your limits, say when you are not sure, and promise no more than you can keep.
- No emoji, unless somebody asks for them.
- Plain text: no more formatting than the answer needs.
- Concise: nothing twice, and no filler.
- Answer in the language in which the person writes.`;

const STEPS = `1. Understand what is wanted, and for whom. Ask only when a wrong guess would cost time.
2. Quick question: answer it. Longer work: make a short plan, then take it step by step.
3. Check each result before you build on it.
4. Say what happened: what is done, what is not, what you suggest next.`;

const TODOS =
  'Quick is a plain question, the explanation of a few lines of code or a small change: go without `write_todos`. What has several steps, needs a plan or may fail on the way is tracked with `write_todos`: write the steps down first, and mark each as you go.';

const REPORTS =
  'Write a report, in Markdown, when somebody asks for one or a complex analysis is done; never by yourself after a plain question or a change of code.';

/**
 * Instructions for working: a few plain steps, followed by the owner's own file if the layout names
 * an existing file.
 */
const workflowLayer: Layer = {
  id: 'workflow',
  volatility: 'session',
  placement: 'system',
  modes: ['full', 'minimal'],
  async render(context, { heading = '## Workflow', files: [file] = [], characters }) {
    const own =
      file === undefined
        ? createAbsent('the layout names no file')
        : await readContextFile(context, file, characters);
    const todos = canUseTool(context.tools, 'write_todos') ? [TODOS] : [];
    const steps = [heading, STEPS, ...todos, REPORTS].join('\n');
    if ('absent' in own) return createPublicPart(steps);
    const rules = `## ${own.source}\n${addFilePurpose(own.source, own)}`;
    return { ...own, text: `${steps}\n\n${rules}` };
  },
};

function canUseTool(tools: readonly ToolNote[] = [], wanted: string): boolean {
  return tools.some(({ name, placeholder }) => name === wanted && placeholder !== true);
}

/** Layers about the agent and its work that only the `zeus` layout uses. */
export const zeusLayers: readonly Layer[] = [coreLayer, workflowLayer];
