import type { Logger } from '@parley/contracts';
import { configPath } from '@parley/contracts/installation';
import {
  createAssembler,
  createLayerRegistry,
  declaredReads,
  houseLayers,
  layoutNamed,
  type PromptAssembler,
  readChannelFormats,
} from '@parley/prompt';
import type { FilePattern } from '@parley/workspace';
import type { AgentPlugins } from './plug-in.ts';

const FORMATS = configPath('channel-formats');

/**
 * What assembles an agent’s prompts: the layout of that name, with the layers that plugins add. `reads`:
 * the workspace files that they show.
 */
export async function openPrompt(
  layoutName: string,
  plugins: Pick<AgentPlugins, 'layers' | 'place'>,
  log: Logger,
): Promise<{ readonly prompt: PromptAssembler; readonly reads: readonly FilePattern[] }> {
  const formats = await readChannelFormats(FORMATS);
  const layers = createLayerRegistry([...houseLayers(formats), ...plugins.layers]);
  const layout = plugins.place(layoutNamed(layoutName), layers.get);
  return {
    prompt: createAssembler({ layers, layout, log }),
    reads: declaredReads(layers, layout),
  };
}
