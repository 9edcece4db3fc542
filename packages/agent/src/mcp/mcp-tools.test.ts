import type { McpServerView, McpTool } from '@parley/tools/mcp';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { openToolScene, type ToolScene } from '../testing/tool-scene.ts';
import { createToolRegistry } from '../tools/tool-registry.ts';
import { createMcpTools, createToolNames, type McpRules, type McpToolDeps } from './mcp-tools.ts';

const OWNER = { kind: 'owner', conversationId: 'c' } as const;
const RULES: McpRules = { tools: { block: [] }, audience: 'owner', timeoutMs: 50 };

function tool(name: string, change: Partial<McpTool> = {}): McpTool {
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  return { name, description: '', schema, readOnly: true, ...change };
}

function viewOf(...tools: readonly McpTool[]): McpServerView {
  return {
    name: 's',
    state: { kind: 'connected' },
    tools,
    prompts: [],
    hasResources: false,
    refused: [],
    changed: [],
  };
}

const RESOURCES = {
  resources: async () => '- file:///a.md A note',
  resource: async (_server: string, uri: string) => ({ text: `content of ${uri}`, failed: false }),
};

/** A registry with one MCP server whose tools can be changed. */
function stage(first: McpServerView, call?: McpToolDeps['servers']['call'], rules = RULES) {
  let views = [first];
  const said = call ?? (async (_server, name) => ({ text: name, failed: false }));
  const live = createMcpTools({
    servers: { ...RESOURCES, views: () => views, call: said },
    rules: { s: rules },
  });
  const problems: string[] = [];
  const onProblem = ({ tool: name, code }: { tool: string; code: string }) =>
    void problems.push(`${name} ${code}`);
  const { registry } = createToolRegistry({ builtIn: [], live, onProblem });
  const show = (view: McpServerView): void => {
    views = [view];
  };
  return { registry, live, problems, show };
}

let scene: ToolScene | undefined;
afterEach(() => scene?.close());

describe('[G03] the names of a server’s tools', () => {
  it.each([
    [['echo'], ['s_echo']],
    [
      ['getSum', 'get-env', 'Über.x'],
      ['s_get_sum', 's_get_env', 's_ber_x'],
    ],
    [['…'], ['s_tool']],
  ])('%j become %j', (originals, names) => {
    expect([...createToolNames('s', originals).values()]).toEqual(names);
  });

  it('[P11] are accepted by every provider, unique, and the same at every start', () => {
    const names = fc.uniqueArray(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 120 }));
    fc.assert(
      fc.property(names, (originals) => {
        const made = createToolNames('server', originals);
        const values = [...made.values()];
        for (const name of values) expect(name).toMatch(/^server_[a-z0-9_]{1,57}$/);
        expect(new Set(values).size).toBe(originals.length);
        expect(createToolNames('server', originals.toReversed())).toEqual(
          new Map([...made].toReversed()),
        );
      }),
    );
  });
});

describe('[G03] a server’s resources', () => {
  const withResources = (...tools: readonly McpTool[]) => ({
    ...viewOf(...tools),
    hasResources: true,
  });
  const named = (view: McpServerView, rules?: McpRules) =>
    stage(view, undefined, rules).registry.for(OWNER).names;

  it('lists and reads resources with one tool, in addition to the server’s tools', async () => {
    const [, found] = stage(withResources(tool('a'))).live()[0]?.tools ?? [];
    scene = await openToolScene();
    if (found === undefined) throw new Error('it is there');
    expect(await scene.use(found, {})).toEqual({ text: '- file:///a.md A note' });
    expect(await scene.use(found, { uri: 'x:y' })).toEqual({ text: 'content of x:y' });
    expect(found).toMatchObject({ foreign: true, effect: 'read', approval: 'never' });
  });

  it('gives the resource tool another name if the server already has a tool with that name; the settings can block the resource tool', () => {
    expect(named(withResources())).toEqual(['s_resources']);
    expect(named(withResources(tool('resources')))).toEqual(['s_resources', 's_mcp_resources']);
    const blocked: McpRules = { ...RULES, tools: { block: ['resources'] } };
    expect(named(withResources(), blocked)).toEqual([]);
    expect(named(viewOf())).toEqual([]);
  });
});

describe('[G03] tools that come and go', () => {
  it('offers a tool while the server has it, and leaves a tool set that was handed out earlier unchanged', () => {
    const { registry, show } = stage(viewOf(tool('a')));
    const before = registry.for(OWNER);
    expect(registry.for(OWNER)).toBe(before);
    show(viewOf(tool('b'), tool('c')));
    expect(registry.for(OWNER).names).toEqual(['s_b', 's_c']);
    expect(before.names).toEqual(['s_a']);
    expect(before.get('s_a')).toBeDefined();
    show({ ...viewOf(), state: { kind: 'waiting', reason: 'gone', nextAttemptAt: 0 } });
    expect(registry.for(OWNER).names).toEqual([]);
  });

  it('never replaces a built-in tool, and logs a name conflict once per change', () => {
    const { live } = stage(viewOf(tool('a')));
    const [added] = live();
    const problems: string[] = [];
    const { registry } = createToolRegistry({
      builtIn: added?.tools ?? [],
      live,
      onProblem: ({ tool: name, code }) => void problems.push(`${name} ${code}`),
    });
    registry.for(OWNER);
    registry.for(OWNER);
    expect(problems).toEqual(['s_a tool-duplicate']);
  });

  it('offers a server’s tools to the owner only, unless the settings allow others', () => {
    const guest = { kind: 'guest', conversationId: 'c' } as const;
    expect(stage(viewOf(tool('a'))).registry.for(guest).names).toEqual([]);
    const open = stage(viewOf(tool('a')), undefined, { ...RULES, audience: 'everyone' });
    expect(open.registry.for(guest).names).toEqual(['s_a']);
  });

  it('treats tools as external effects that need an approval, unless they are declared read-only', () => {
    const view = viewOf(tool('reads'), tool('writes', { readOnly: false }));
    const [reads, writes] = stage(view).live()[0]?.tools ?? [];
    expect(reads).toMatchObject({ effect: 'read', approval: 'never', tier: 'external-mcp' });
    expect(writes).toMatchObject({ effect: 'external', approval: 'ask' });
    const strict = stage(view, undefined, { ...RULES, approval: 'ask' }).live()[0]?.tools ?? [];
    expect(strict.map(({ approval }) => approval)).toEqual(['ask', 'ask']);
  });

  it('applies the settings to tools by their names on the server', () => {
    const rules = { ...RULES, tools: { allow: ['a', 'b'], block: ['b'] } };
    const view = viewOf(tool('a'), tool('b'), tool('c'));
    expect(stage(view, undefined, rules).registry.for(OWNER).names).toEqual(['s_a']);
  });
});

describe('[G03] a call to a server’s tool', () => {
  const used = async (change: Partial<McpTool>, call: McpToolDeps['servers']['call']) => {
    scene = await openToolScene();
    const [made] = stage(viewOf(tool('a', change)), call).live()[0]?.tools ?? [];
    if (made === undefined) throw new Error('there is one tool');
    return scene.use(made, { n: 1 });
  };

  it('is aborted at the server’s time limit', async () => {
    const never = used({}, () => new Promise(() => {}));
    await expect(never).rejects.toThrow('it took longer than 0.05 s');
  });

  it.each([
    ['one that changes something may have taken effect', false],
    ['one that reads has simply failed', true],
  ])('if the connection is lost during a call, %s', async (_what, readOnly) => {
    const lost = Object.assign(new Error('closed'), { code: 'mcp-disconnected' });
    const outcome = used({ readOnly }, () => Promise.reject(lost));
    if (readOnly) await expect(outcome).rejects.toBe(lost);
    else expect((await outcome).note).toContain('not known whether the call took effect');
  });
});
