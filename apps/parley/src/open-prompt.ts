import { fileURLToPath } from 'node:url';
import type { Logger } from '@parley/contracts';
import {
  createAssembler,
  createLayerRegistry,
  houseLayers,
  layoutNamed,
  type PromptAssembler,
  readChannelFormats,
} from '@parley/prompt';
import type { AgentPlugins } from './plug-in.ts';

const FORMATS = fileURLToPath(new URL('../../../config/channel-formats', import.meta.url));

/** What assembles an agent’s prompts: the layout of that name, with the layers that plugins add. */
export async function openPrompt(
  layoutName: string,
  plugins: Pick<AgentPlugins, 'layers' | 'place'>,
  log: Logger,
): Promise<PromptAssembler> {
  const formats = await readChannelFormats(FORMATS);
  const layers = createLayerRegistry([...houseLayers(formats), ...plugins.layers]);
  const layout = plugins.place(layoutNamed(layoutName), layers.get);
  return createAssembler({ layers, layout, log });
}
