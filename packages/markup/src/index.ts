export type { RenderTarget } from '@parley/contracts';
export { MarkupError } from './markup-error.ts';
export { type RenderedPart, render } from './render.ts';
export { renderPrefix } from './render-prefix.ts';
