export { html } from 'hono/html';
export { bars } from './chart/bars.ts';
export {
  type Figures,
  type Look,
  moment,
  type Series,
  share,
  short,
  sum,
} from './chart/chart.ts';
export { areas, durations } from './chart/plot.ts';
export { spark } from './chart/spark.ts';
export { type Field, type Filled, fieldsOf, form, hiddenFields, type Problem } from './form/form.ts';
export { assetResponse } from './frame/asset-response.ts';
export { type AssetName, readAsset } from './frame/assets.ts';
export { type FrameContent, frame } from './frame/frame.ts';
export { documentOf, type Markup, pageHeaders } from './frame/layout.ts';
export { type Confirmation, confirmationIn, cookie, cookieIn } from './guard/cookies.ts';
export { isFromOwnPage, senderOf } from './guard/own-page.ts';
export { MAX_FIELDS, readFields } from './guard/read-fields.ts';
export { type Chip, type Column, chips, column, list, tableOf } from './list/list.ts';
export { searchForm, withQuery } from './list/search.ts';
export { copyable, copyButton } from './text/copy.ts';
export { difference, differenceOf } from './text/difference.ts';
export { bodyText, editable, masked, plainLines, withValues } from './text/json.ts';
export { age, exactSpan, span, time, utc } from './text/quantities.ts';
export { referenceLink } from './text/reference.ts';
export { badge, note, type Step, shape, story, type Tone } from './text/state.ts';
export { capital, count, counted, csvLine, groupedDigits } from './text/text.ts';
