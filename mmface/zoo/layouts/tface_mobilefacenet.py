"""TFace's MobileFaceNet."""
from .flat_mobilefacenet import FlatMobileFaceNetLayout


class TFaceMobileFaceNet(FlatMobileFaceNetLayout):
    """With the embedding layer under ``output_layer``, its last batch norm without gain and shift."""
    name = 'tface-mobilefacenet'
    project = 'TFace (MobileFaceNet)'
    telltale = 'output_layer.conv_6_dw.conv.weight'
    end = 'output_layer.'
