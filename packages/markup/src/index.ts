export type { RenderTarget } from '@parley/contracts';
export { MarkupError } from './markup-error.ts';
export { render, renderInSteps } from './render.ts';
export type { RenderedPart } from './render-part.ts';
export { renderPrefix } from './render-prefix.ts';
